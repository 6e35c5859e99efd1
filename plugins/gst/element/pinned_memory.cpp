#include "plugins/gst/element/pinned_memory.h"

#include <gst/video/gstvideopool.h>
#include <gst/video/video.h>

#include <memory>
#include <new>

#include "base/error.h"
#include "base/memory.h"

namespace contorno::gst {
namespace {

constexpr const char* kMemoryType = "ContornoPinned";
constexpr gsize kAlignMask = 63;

/// A block, or a part of one that another memory owns.
struct PinnedMemory {
  GstMemory parent;
  Block* block;
  std::byte* data;
};

struct PinnedAllocator {
  GstAllocator parent;
};
struct PinnedAllocatorClass {
  GstAllocatorClass parent_class;
};

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-cstyle-cast)
G_DEFINE_TYPE(PinnedAllocator, contorno_pinned_allocator, GST_TYPE_ALLOCATOR)

PinnedMemory& pinned(GstMemory* memory) {
  return *static_cast<PinnedMemory*>(static_cast<gpointer>(memory));
}

/// Null for want of memory, by the rules of GStreamer.
GstMemory* allocate(GstAllocator* allocator, gsize size, GstAllocationParams* params) {
  const gsize whole = params->prefix + size + params->padding;
  Block* block = nullptr;
  try {
    block = new Block(whole, MemoryKind::Pinned);  // aligned to more than anybody asks for
  } catch (const std::exception&) {
    return nullptr;
  }
  auto* const memory = g_new0(PinnedMemory, 1);
  memory->block = block;
  memory->data = block->data();
  gst_memory_init(GST_MEMORY_CAST(memory), params->flags, allocator, nullptr, whole, kAlignment - 1,
                  params->prefix, size);
  return GST_MEMORY_CAST(memory);
}

void release(GstAllocator*, GstMemory* memory) {
  delete pinned(memory).block;
  g_free(memory);
}

gpointer map(GstMemory* memory, gsize, GstMapFlags) {
  return pinned(memory).data;
}

void unmap(GstMemory*) {}

GstMemory* share(GstMemory* memory, gssize offset, gssize size) {
  GstMemory* const owner = memory->parent != nullptr ? memory->parent : memory;
  auto* const part = g_new0(PinnedMemory, 1);
  part->data = pinned(memory).data;
  const gsize bytes = size < 0 ? memory->size - static_cast<gsize>(offset) : static_cast<gsize>(size);
  gst_memory_init(
      GST_MEMORY_CAST(part),
      static_cast<GstMemoryFlags>(GST_MINI_OBJECT_FLAGS(owner) | GST_MINI_OBJECT_FLAG_LOCK_READONLY),
      memory->allocator, owner, memory->maxsize, memory->align, memory->offset + static_cast<gsize>(offset),
      bytes);
  return GST_MEMORY_CAST(part);
}

void contorno_pinned_allocator_class_init(PinnedAllocatorClass* type_class) {
  auto* const base = GST_ALLOCATOR_CLASS(type_class);
  base->alloc = allocate;
  base->free = release;
}

void contorno_pinned_allocator_init(PinnedAllocator* self) {
  GstAllocator* const allocator = GST_ALLOCATOR_CAST(self);
  allocator->mem_type = kMemoryType;
  allocator->mem_map = map;
  allocator->mem_unmap = unmap;
  allocator->mem_share = share;
}

}  // namespace

bool propose_pinned(GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean wants_pool = FALSE;
  GstVideoInfo info;
  gst_query_parse_allocation(query, &caps, &wants_pool);
  if (caps == nullptr || gst_video_info_from_caps(&info, caps) == 0) return false;
  auto* const allocator =
      static_cast<GstAllocator*>(g_object_new(contorno_pinned_allocator_get_type(), nullptr));
  gst_object_ref_sink(allocator);
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignMask;
  if (gst_query_get_n_allocation_params(query) > 0)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else
    gst_query_add_allocation_param(query, allocator, &params);
  GstBufferPool* pool = nullptr;
  const auto size = static_cast<guint>(GST_VIDEO_INFO_SIZE(&info));
  if (wants_pool != 0) {
    pool = gst_video_buffer_pool_new();
    GstStructure* const config = gst_buffer_pool_get_config(pool);
    gst_buffer_pool_config_set_params(config, caps, size, 0, 0);
    gst_buffer_pool_config_set_allocator(config, allocator, &params);
    gst_buffer_pool_set_config(pool, config);
  }
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_set_nth_allocation_pool(query, 0, pool, size, 0, 0);
  else
    gst_query_add_allocation_pool(query, pool, size, 0, 0);
  if (pool != nullptr) gst_object_unref(pool);
  gst_object_unref(allocator);
  return true;
}

void propose_aligned(GstQuery* query) {
  if (gst_query_get_n_allocation_params(query) > 0) return;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignMask;
  gst_query_add_allocation_param(query, nullptr, &params);
}

}  // namespace contorno::gst
