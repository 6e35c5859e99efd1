/* Engines: libraries that compute a network in ONNX's format. The stage `network` prepares frames, hands them
 * to one of these tables of five functions as tensors, and makes class maps of what comes back. This header
 * is C, so that an engine can be written in any language; docs/reference/network.md says how one is loaded.
 *
 * Tensors are float32, dense, of four sides, the outermost first. Functions that can fail return
 * CONTORNO_ENGINE_OK or write a sentence without a full stop, ended by a zero, into `why`, which has
 * CONTORNO_ENGINE_WHY bytes. No exception leaves one. `describe` may be called at any time from any thread;
 * the other functions are called for one net by one thread at a time, for different nets by several. */
#ifndef CONTORNO_ENGINE_H
#define CONTORNO_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#define CONTORNO_ENGINE_VERSION 1
#define CONTORNO_ENGINE_WHY 512

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): C has no other word. */
typedef enum contorno_engine_result {
  CONTORNO_ENGINE_OK = 0,
  CONTORNO_ENGINE_FAILED =
      1, /* in `open` and `plan`: the model is refused; in `run`: this frame has failed */
  CONTORNO_ENGINE_NO_MEMORY = 2 /* the process is short of memory */
} contorno_engine_result;

/* What was tried with one form of an operator. The first entry that fits a node decides; a node that none
 * fits is refused. */
typedef struct contorno_engine_tried {
  const char* op;   /* of ONNX's own domain: "Resize" */
  const char* form; /* as docs/reference/network.md#forms writes it: "linear,half_pixel,whole"; null: any */
  int first_opset, last_opset; /* of the model, both included */
  const char* wrong;           /* null: computed right; else what goes wrong, "; " and the remedy */
} contorno_engine_tried;

/* Texts and the list are the engine's, and stay. */
typedef struct contorno_engine_facts {
  const char* name;    /* "opencv" */
  const char* version; /* of the library: "4.6.0" */
  const contorno_engine_tried* tried;
  size_t tried_count;
} contorno_engine_facts;

/* A model that has been looked through: one input and one output, no weights in other files. It stays until
 * `close`. */
typedef struct contorno_engine_model {
  const void* bytes; /* the file */
  size_t size;
  const char* input; /* names of its tensors */
  const char* output;
  int threads; /* the most that a net may use, at least 1 */
} contorno_engine_model;

typedef struct contorno_engine {
  int version; /* CONTORNO_ENGINE_VERSION */
  void (*describe)(contorno_engine_facts* facts);
  /* Makes a net of a model. */
  contorno_engine_result (*open)(const contorno_engine_model* model, void** net, char* why);
  /* Prepares a net for an input of these sides, and sets those of the output. Called again when the sides
   * change. */
  contorno_engine_result (*plan)(void* net, const int64_t in[4], int64_t out[4], char* why);
  /* Computes one input of the sides that were planned. */
  contorno_engine_result (*run)(void* net, const float* in, float* out, char* why);
  void (*close)(void* net);
} contorno_engine;
/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

/* Exports the engine of a file that is loaded with --load; once in a file. */
#ifdef __cplusplus
#define CONTORNO_ENGINE(table_)                                                                         \
  extern "C" __attribute__((visibility("default"))) const contorno_engine* const contorno_engine_table; \
  const contorno_engine* const contorno_engine_table = &(table_)
#else
#define CONTORNO_ENGINE(table_) \
  __attribute__((visibility("default"))) const contorno_engine* const contorno_engine_table = &(table_)
#endif

#endif /* CONTORNO_ENGINE_H */
