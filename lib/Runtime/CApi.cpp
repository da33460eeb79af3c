#include "pto_mlir/Runtime/CApi.h"

#include "pto_mlir/Runtime/Session.h"

#include <cstring>
#include <map>
#include <mutex>

using namespace pto_mlir;

struct pto_session {
  std::unique_ptr<runtime::Session> session;
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> kept; // of outputs that are strings, what the last run gave

  /// Keeps the strings of an output and shows where they are.
  void keep(const std::string &output, std::vector<std::string> strings, pto_string *places) {
    std::lock_guard lock(mutex);
    std::vector<std::string> &own = kept[output] = std::move(strings);
    for (size_t i = 0; i < own.size(); ++i)
      places[i] = {own[i].data(), own[i].size()};
  }
};
struct pto_state {
  std::unique_ptr<runtime::ModelState> state;
};

namespace {

thread_local std::string lastError;

int fail(std::string message) {
  lastError = std::move(message);
  return 1;
}

std::string sizeText(const std::string &name, uint64_t bytes, uint64_t buffer) {
  return "output '" + name + "' has " + std::to_string(bytes) + " bytes, its buffer " + std::to_string(buffer);
}

int check(const Status &status) { return status ? 0 : fail(status.error()); }

int hand(Result<std::unique_ptr<runtime::ModelState>> made, pto_state **place) {
  if (!made)
    return fail(made.error());
  *place = new pto_state{made.take()};
  return 0;
}

/// Bytes of a tensor in the caller's memory.
uint64_t callerBytes(ElementType type, const std::vector<uint64_t> &shape) {
  return type == ElementType::String ? *numElements(shape) * sizeof(pto_string) : *tensorBytes(type, shape);
}

int describe(const std::vector<pmodel::TensorDesc> &tensors, size_t index, pto_tensor_info *info) {
  if (index >= tensors.size())
    return fail("there is no input or output " + std::to_string(index));
  const pmodel::TensorDesc &tensor = tensors[index];
  // Type names are string literals, so `data()` is null-terminated.
  *info = {tensor.name.c_str(), elementTypeName(tensor.type).data(), tensor.shape.data(), tensor.shape.size(),
           callerBytes(tensor.type, tensor.shape)};
  return 0;
}

} // namespace

int pto_session_open(const char *path, const char *device, uint32_t threads, const char *net, pto_session **session) {
  if (!path || !session)
    return fail("pto_session_open needs a path and a place for the session");
  runtime::SessionOptions options;
  if (device)
    options.device.device = device;
  options.device.threads = threads;
  if (net)
    options.net = net;
  auto opened = runtime::Session::open(path, options);
  if (!opened)
    return fail(opened.error());
  *session = new pto_session{opened.take(), {}, {}};
  return 0;
}

void pto_session_close(pto_session *session) { delete session; }

size_t pto_session_num_inputs(const pto_session *session) { return session->session->inputs().size(); }
size_t pto_session_num_outputs(const pto_session *session) { return session->session->outputs().size(); }

int pto_session_input_info(const pto_session *session, size_t index, pto_tensor_info *info) {
  return describe(session->session->inputs(), index, info);
}

int pto_session_output_info(const pto_session *session, size_t index, pto_tensor_info *info) {
  return describe(session->session->outputs(), index, info);
}

int pto_session_run(pto_session *session, const pto_input *inputs, size_t num_inputs, const pto_output *outputs,
                    size_t num_outputs) {
  return num_outputs ? pto_session_run_state(session, nullptr, inputs, num_inputs, outputs, num_outputs)
                     : fail("no output is asked for");
}

int pto_state_new(pto_session *session, pto_state **state) { return hand(session->session->newState(), state); }
int pto_state_fork(const pto_state *state, pto_state **copy) { return hand(state->state->fork(), copy); }
void pto_state_free(pto_state *state) { delete state; }
uint64_t pto_state_position(const pto_state *state) { return state->state->position(); }
int pto_state_truncate(pto_state *state, uint64_t position) { return check(state->state->truncate(position)); }
int pto_state_reset(pto_state *state) { return check(state->state->reset()); }
int pto_state_save(const pto_state *state, const char *path) { return check(state->state->save(path)); }
int pto_state_load(pto_state *state, const char *path) { return check(state->state->load(path)); }

int pto_session_run_state(pto_session *session, pto_state *state, const pto_input *inputs, size_t num_inputs,
                          const pto_output *outputs, size_t num_outputs) {
  std::vector<runtime::InputTensor> tensors;
  std::vector<std::vector<std::string_view>> texts;
  for (size_t i = 0; i < num_inputs; ++i) {
    auto type = parseElementType(inputs[i].type);
    if (!type)
      return fail(std::string("input '") + inputs[i].name + "': unknown type '" + inputs[i].type + "'");
    tensors.push_back({inputs[i].name, *type, std::vector<uint64_t>(inputs[i].shape, inputs[i].shape + inputs[i].rank),
                       inputs[i].data});
    if (*type == ElementType::String) {
      auto count = numElements(tensors.back().shape);
      if (!count)
        return fail(std::string("input '") + inputs[i].name + "': is too large");
      auto *given = static_cast<const pto_string *>(inputs[i].data);
      std::vector<std::string_view> &views = texts.emplace_back();
      for (uint64_t k = 0; k < *count; ++k)
        views.emplace_back(given[k].data, given[k].size);
      tensors.back().data = views.data();
    }
  }
  std::vector<std::string> names;
  names.reserve(num_outputs);
  for (size_t i = 0; i < num_outputs; ++i)
    names.push_back(outputs[i].name);
  // A run moves the state, so buffers that do not fit are found before it; a program's outputs have no sizes before.
  if (session->session->hasState()) {
    auto variant = session->session->variantOf(tensors);
    if (!variant)
      return fail(variant.error());
    for (const pmodel::TensorDesc &desc : session->session->net().variants[*variant].outputs)
      for (size_t i = 0; i < num_outputs; ++i)
        if (desc.name == names[i] && *tensorBytes(desc.type, desc.shape) != outputs[i].bytes)
          return fail(sizeText(names[i], *tensorBytes(desc.type, desc.shape), outputs[i].bytes));
  }
  auto results = session->session->run(tensors, names, state ? state->state.get() : nullptr);
  if (!results)
    return fail(results.error());
  for (size_t i = 0; i < num_outputs; ++i)
    if (uint64_t bytes = callerBytes((*results)[i].type, (*results)[i].shape); bytes != outputs[i].bytes)
      return fail(sizeText(names[i], bytes, outputs[i].bytes));
  for (size_t i = 0; i < num_outputs; ++i)
    if ((*results)[i].type == ElementType::String)
      session->keep(names[i], std::move((*results)[i].strings), static_cast<pto_string *>(outputs[i].data));
    else if (outputs[i].bytes)
      std::memcpy(outputs[i].data, (*results)[i].data.get(), outputs[i].bytes);
  return 0;
}

const char *pto_last_error(void) { return lastError.c_str(); }
