// The buffer that a tile or tensor lies in.
#ifndef PYPTO_IR_MEMREF_H
#define PYPTO_IR_MEMREF_H

#include "pypto/ir/node.h"

namespace pypto::ir {

/// A buffer. Two tiles share one when they hold the same MemRef object; slots of one allocation have its `id_`.
class MemRef final : public Node {
public:
  MemorySpace memory_space_ = MemorySpace::DDR;
  ExprPtr addr_;      ///< byte offset in the space; null: none assigned
  uint64_t size_ = 0; ///< bytes of one slot
  uint64_t id_ = 0;
  std::string name_;   ///< of a buffer that the program names
  uint64_t slots_ = 1; ///< buffers of `size_` bytes behind one another
  ExprPtr slot_;       ///< which of them this is, of the allocation `id_`; null: all of them

  MemRef(MemorySpace memory_space, ExprPtr addr, uint64_t size, uint64_t id, std::string name = "", uint64_t slots = 1,
         ExprPtr slot = nullptr);

  template <class F> static void Fields(F &&f) {
    f("memory_space", &MemRef::memory_space_, kPlain);
    f("addr", &MemRef::addr_, kOptional);
    f("size", &MemRef::size_, kOptional);
    f("id", &MemRef::id_, kOptional);
    f("name", &MemRef::name_, kNote | kOptional);
    f("slots", &MemRef::slots_, kOptional);
    f("slot", &MemRef::slot_, kOptional | Since(3));
  }
  PYPTO_NODE(MemRef, Node)
  void Finish();
};

} // namespace pypto::ir

#endif // PYPTO_IR_MEMREF_H
