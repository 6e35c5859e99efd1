#define SPYROU_SERIAL spyrou_serial_o0
#include "tools/bench/sources/spyrou_serial.inc"
