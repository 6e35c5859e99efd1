#define SPYROU_SERIAL spyrou_serial_o3
#include "tools/bench/sources/spyrou_serial.inc"
