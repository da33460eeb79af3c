#include "StateImpl.h"

#include <algorithm>

namespace pto_mlir::runtime {

using namespace pto_mlir::pmodel;

static std::string typeText(ElementType type, const std::vector<uint64_t> &shape) {
  return std::string(elementTypeName(type)) + " " + shapeText(shape);
}

static std::string nameOf(const StateGroupDesc &group) { return "state '" + group.name + "'"; }

//===-- Impl --------------------------------------------------------------===//

Result<std::unique_ptr<ModelState>> ModelState::Impl::make(std::shared_ptr<LoadedModel> model, uint32_t number) {
  auto impl = std::make_unique<Impl>();
  impl->model = std::move(model);
  impl->number = number;
  std::lock_guard lock(impl->model->mutex);
  auto buffer = DeviceBuffer::make(*impl->model->device, impl->group().bytes, "the state");
  if (!buffer)
    return buffer.failure();
  impl->buffer = buffer.take();
  if (Status status = impl->reset(); !status)
    return status.failure();
  return std::unique_ptr<ModelState>(new ModelState(std::move(impl)));
}

uint64_t ModelState::Impl::address(size_t i) const {
  const StateTensorDesc &tensor = group().tensors[i];
  return buffer.address() + (swapped[i] ? secondPlace(tensor) : tensor.offset);
}

uint64_t ModelState::Impl::limit() const {
  uint64_t least = UINT64_MAX;
  for (const NetDesc &net : model->file->model().nets)
    for (const VariantDesc &variant : net.variants)
      if (variant.state && variant.state->group == number && variant.state->limit)
        least = std::min(least, variant.state->limit);
  return least;
}

Status ModelState::Impl::reset() {
  const ModelDesc &file = model->file->model();
  swapped.assign(group().tensors.size(), false);
  for (size_t i = 0; i < swapped.size(); ++i) {
    const StateTensorDesc &tensor = group().tensors[i];
    std::vector<std::byte> zeros;
    const void *data = nullptr;
    if (tensor.initial.empty()) {
      zeros.resize(stateBytes(tensor));
      data = zeros.data();
    } else {
      size_t weight = std::find_if(file.weights.begin(), file.weights.end(),
                                   [&](const WeightDesc &weight) { return weight.name == tensor.initial; }) -
                      file.weights.begin();
      if (Status status = model->file->checkWeight(weight); !status)
        return status;
      data = file.weights[weight].data;
    }
    if (Status status = model->device->copyToDevice(address(i), data, stateBytes(tensor)); !status)
      return status;
  }
  position = 0;
  isTorn = false;
  return {};
}

Status ModelState::Impl::mayRun(const StateUseDesc &use) const {
  if (use.group != number)
    return Failure{nameOf(group()) + " is not the net's, which has '" + model->file->model().states[use.group].name +
                   "'"};
  if (isTorn)
    return Failure{nameOf(group()) + " was left half-written by a run that failed; reset or load it"};
  if (use.limit && (position > use.limit || use.rows > use.limit - position))
    return Failure{nameOf(group()) + " has " + std::to_string(position) + " positions, this run adds " +
                   std::to_string(use.rows) + ", and there is room for " + std::to_string(use.limit) +
                   "; truncate or reset it"};
  if (position > INT32_MAX - use.rows)
    return Failure{nameOf(group()) + " has " + std::to_string(position) + " positions, as many as can be counted"};
  return {};
}

Status ModelState::Impl::writePosition() const {
  auto count = static_cast<int32_t>(position);
  static_assert(sizeof(count) == kStatePositionBytes);
  return model->device->copyToDevice(buffer.address(), &count, sizeof(count));
}

void ModelState::Impl::finish(const Status &status, std::span<VM *const> vms, uint64_t rows) {
  if (!status) {
    isTorn = std::any_of(vms.begin(), vms.end(), [](VM *vm) { return vm->replacesInPlace(); });
    return;
  }
  position += rows;
  for (size_t i = 0; i < swapped.size(); ++i)
    if (std::any_of(vms.begin(), vms.end(), [&](VM *vm) { return vm->writesSecondPlace(i); }))
      swapped[i] = !swapped[i];
}

Result<std::vector<HostTensor>> ModelState::Impl::read() const {
  std::vector<HostTensor> list;
  for (size_t i = 0; i < group().tensors.size(); ++i) {
    const StateTensorDesc &desc = group().tensors[i];
    HostTensor tensor{desc.name, desc.type, desc.shape, nullptr, stateBytes(desc)};
    tensor.data.reset(new (std::nothrow) std::byte[tensor.bytes]);
    if (!tensor.data)
      return Failure{"out of memory: " + std::to_string(tensor.bytes) + " bytes for '" + desc.name + "'"};
    if (Status status = model->device->copyFromDevice(tensor.data.get(), address(i), tensor.bytes); !status)
      return status.failure();
    list.push_back(std::move(tensor));
  }
  return list;
}

Result<StateClaim> StateClaim::take(const ModelState::Impl &state) {
  if (state.isUsed.exchange(true))
    return Failure{nameOf(state.group()) + " is in use by another run; every run needs a state of its own"};
  return StateClaim(&state.isUsed);
}

Result<StateAccess> StateAccess::take(const ModelState::Impl &state) {
  auto claim = StateClaim::take(state);
  if (!claim)
    return claim.failure();
  return StateAccess(claim.take(), std::unique_lock(state.model->mutex));
}

//===-- ModelState --------------------------------------------------------===//

ModelState::ModelState(std::unique_ptr<Impl> impl) : impl(std::move(impl)) {}

ModelState::~ModelState() {
  if (!impl)
    return;
  std::shared_ptr<LoadedModel> model = impl->model; // outlives the lock
  std::lock_guard lock(model->mutex);
  impl.reset();
}

const StateGroupDesc &ModelState::group() const { return impl->group(); }

uint64_t ModelState::position() const {
  std::lock_guard lock(impl->model->mutex);
  return impl->position;
}

Status ModelState::truncate(uint64_t position) {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  if (position > impl->position)
    return Failure{nameOf(group()) + " has " + std::to_string(impl->position) + " positions, cannot truncate it to " +
                   std::to_string(position)};
  if (position == impl->position)
    return {};
  for (const StateTensorDesc &tensor : group().tensors)
    if (tensor.sequenceAxis < 0)
      return position == 0
                 ? impl->reset()
                 : Status(Failure{nameOf(group()) + " cannot go back to position " + std::to_string(position) +
                                  ": every run replaces '" + tensor.name + "'; reset it or load an earlier one"});
  impl->position = position;
  return {};
}

Status ModelState::reset() {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  return impl->reset();
}

Result<std::vector<HostTensor>> ModelState::tensors() const {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  return impl->read();
}

Status ModelState::assign(const std::vector<InputTensor> &given, uint64_t position) {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  const std::vector<StateTensorDesc> &tensors = group().tensors;
  std::vector<const InputTensor *> sources;
  for (const StateTensorDesc &desc : tensors) {
    auto found = std::find_if(given.begin(), given.end(), [&](auto &tensor) { return tensor.name == desc.name; });
    if (found == given.end())
      return Failure{nameOf(group()) + " needs '" + desc.name + "', which is missing"};
    if (found->type != desc.type || found->shape != desc.shape)
      return Failure{nameOf(group()) + ": '" + desc.name + "' is " + typeText(desc.type, desc.shape) + ", got " +
                     typeText(found->type, found->shape)};
    sources.push_back(&*found);
  }
  for (const InputTensor &tensor : given)
    if (std::none_of(tensors.begin(), tensors.end(), [&](auto &desc) { return desc.name == tensor.name; }))
      return Failure{nameOf(group()) + " has no '" + std::string(tensor.name) + "'"};
  if (given.size() != tensors.size())
    return Failure{nameOf(group()) + " is given a tensor twice"};
  if (uint64_t limit = std::min<uint64_t>(impl->limit(), INT32_MAX); position > limit)
    return Failure{nameOf(group()) + " has room for " + std::to_string(limit) + " positions, got " +
                   std::to_string(position)};
  for (size_t i = 0; i < tensors.size(); ++i)
    if (Status status = impl->model->device->copyToDevice(impl->address(i), sources[i]->data, stateBytes(tensors[i]));
        !status)
      return status;
  impl->position = position;
  impl->isTorn = false;
  return {};
}

Result<std::unique_ptr<ModelState>> ModelState::fork() const {
  auto access = StateAccess::take(*impl);
  if (!access)
    return access.failure();
  auto list = impl->read();
  if (!list)
    return list.failure();
  auto copy = Impl::make(impl->model, impl->number);
  if (!copy)
    return copy;
  std::vector<InputTensor> inputs;
  for (const HostTensor &tensor : *list)
    inputs.push_back({tensor.name, tensor.type, tensor.shape, tensor.data.get()});
  if (Status status = (*copy)->assign(inputs, impl->position); !status)
    return status.failure();
  (*copy)->impl->isTorn = impl->isTorn;
  return copy;
}

} // namespace pto_mlir::runtime
