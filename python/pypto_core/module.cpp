// pypto.pypto_core: the IR as a Python module. ValueError and TypeError are Python's own.
#include "Convert.h"
#include "Nodes.h"

#include "pypto/codegen/cce/cce_codegen.h"
#include "pypto/codegen/isa_mapper.h"
#include "pypto/codegen/orchestration/orchestration_codegen.h"
#include "pypto/codegen/type_converter.h"
#include "pypto/ir/op_registry.h"
#include "pypto/ir/orchestrators.h"
#include "pypto/ir/printer.h"
#include "pypto/ir/serialize.h"
#include "pypto/ir/slots.h"
#include "pypto/ir/structural.h"
#include "pypto/ir/verify.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace pypto::python {
namespace {

void bindDataType(nb::module_ &m) {
  nb::class_<DataType> cls(m, "DataType");
  cls.def("get_bit", &DataType::GetBit, "Bits of one element.")
      .def("get_byte", &DataType::GetByte, "Bytes of one element, rounded up.")
      .def_prop_ro("name", [](DataType dtype) { return std::string(dtype.Name()); })
      .def("is_float", &DataType::IsFloat)
      .def("is_int", &DataType::IsInt)
      .def("to_c_type_string", [](DataType dtype) { return std::string(dtype.ToCTypeString()); })
      .def("to_mlir_string", [](DataType dtype) { return std::string(dtype.ToMLIRString()); })
      .def("__eq__",
           [](DataType a, const nb::object &b) { return nb::isinstance<DataType>(b) && a == nb::cast<DataType>(b); })
      .def("__hash__", [](DataType dtype) { return int(dtype.GetCode()); })
      .def("__repr__", [](DataType dtype) { return "DataType." + std::string(dtype.Name()); })
      .def("__str__", [](DataType dtype) {
        std::string text(dtype.Name());
        std::ranges::transform(text, text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c + 32) : c; });
        return text;
      });
#define PYPTO_ROW(Name, ...) cls.attr(#Name) = DataType::Name;
  PYPTO_DATA_TYPES(PYPTO_ROW)
#undef PYPTO_ROW
}

/// Errors of the IR as Python's classes of the same names.
void translateErrors(nb::module_ &m) {
  // NOLINTNEXTLINE(bugprone-unused-raii): making it adds the class to the module
  nb::exception<InternalError>(m, "InternalError", PyExc_RuntimeError);
  nb::register_exception_translator([](const std::exception_ptr &error, void *) {
    try {
      std::rethrow_exception(error);
    } catch (const ValueError &held) {
      PyErr_SetString(PyExc_ValueError, held.what());
    } catch (const TypeError &held) {
      PyErr_SetString(PyExc_TypeError, held.what());
    }
  });
}

std::shared_ptr<Call> createOp(const std::string &name, const nb::args &positional, const nb::kwargs &named) {
  Attrs arguments;
  Span span;
  for (nb::handle object : positional)
    arguments.emplace_back("", attrFrom(object));
  for (auto [key, value] : named)
    if (nb::cast<std::string>(key) == "span")
      span = nb::cast<Span>(value);
    else
      arguments.emplace_back(nb::cast<std::string>(key), attrFrom(value));
  return std::const_pointer_cast<Call>(CreateOp(name, std::move(arguments), span));
}

void bindQueries(nb::module_ &m) {
  m.def("create_op", &createOp,
        "A call of an operation of any generation: create_op(name, *operands, span=, **keywords).");
  m.def(
      "op_names",
      [] {
        nb::list names;
        for (const OpRow &row : AllOps())
          names.append(std::string(row.name));
        return names;
      },
      "Full names of all operations, today's generation.");
  m.def(
      "get_op",
      [](const std::string &name) {
        CHECK(FindOp(name)) << "Unknown operation " << name;
        return std::make_shared<Op>(name);
      },
      nb::arg("name"), "The operation of that name. ValueError where there is none.");
  m.def(
      "is_incore_type",
      [](FunctionType type) {
        return type == FunctionType::InCore || type == FunctionType::AIC || type == FunctionType::AIV;
      },
      nb::arg("func_type"), "Whether functions of this kind run on a core.");
  m.def(
      "python_print_type",
      [](const std::shared_ptr<Type> &type, const std::string &prefix) { return python_print(type, prefix); },
      nb::arg("type"), nb::arg("prefix") = "pl", "A type as an annotation.");
  m.def(
      "op_aliases",
      [] {
        nb::list names;
        for (const OpAlias &alias : AllAliases())
          names.append(std::string(alias.alias));
        return names;
      },
      "Further full names of operations: pl.create_tile.");
  m.def(
      "op_instruction",
      [](const std::string &name) {
        const OpRow *row = FindOp(name);
        return std::string(row ? row->pto : "");
      },
      "The op of the pto dialect that an operation becomes; empty where it is several, or none.");
  m.def(
      "op_parameters",
      [](const std::string &name, bool operands) -> nb::object {
        const OpRow *row = FindOp(name);
        if (!row)
          return nb::none();
        nb::list names;
        for (const OpParam &param : row->params)
          if (param.operand || !operands)
            names.append(std::string(param.name));
        return names;
      },
      nb::arg("name"), nb::arg("operands") = false,
      "Names of an operation's operands and keywords in their order, or of its operands; None for no operation.");
  m.def(
      "python_print",
      [](const std::shared_ptr<Node> &node, const std::string &prefix) { return python_print(node, prefix); },
      nb::arg("node"), nb::arg("prefix") = "pl", "The text of the DSL.");
  using Two = const std::shared_ptr<Node> &;
  m.def(
      "structural_equal", [](Two a, Two b, bool map) { return structural_equal(a, b, map); }, nb::arg("lhs"),
      nb::arg("rhs"), nb::arg("enable_auto_mapping") = false);
  m.def(
      "assert_structural_equal", [](Two a, Two b, bool map) { assert_structural_equal(a, b, map); }, nb::arg("lhs"),
      nb::arg("rhs"), nb::arg("enable_auto_mapping") = false);
  m.def(
      "structural_hash", [](Two node, bool map) { return structural_hash(node, map); }, nb::arg("node"),
      nb::arg("enable_auto_mapping") = false);
}

void bindBytes(nb::module_ &m) {
  m.def(
      "serialize",
      [](const std::shared_ptr<Node> &node) {
        std::string bytes = serialize(node);
        return nb::bytes(bytes.data(), bytes.size());
      },
      "The node as bytes.");
  m.def(
      "deserialize",
      [](const nb::bytes &bytes) {
        return std::const_pointer_cast<Node>(deserialize(std::string_view(bytes.c_str(), bytes.size())));
      },
      "The node of such bytes, checked. ValueError for any others.");
  m.def(
      "with_orchestrators",
      [](const std::shared_ptr<Program> &program) {
        return std::const_pointer_cast<Program>(WithOrchestrators(program));
      },
      "The program with functions of no kind that hold scopes or calls as orchestrators.");
  m.def(
      "check_slot_regions", [](const std::shared_ptr<Program> &program) { CheckSlotRegions(program); },
      "Refuses slots of one allocation that are no region of the assembler: ValueError with the place.");
  m.def("verify", [](const std::shared_ptr<Function> &function) { VerifyFunction(function); });
  m.def(
      "verify", [](const std::shared_ptr<Program> &program) { VerifyProgram(program); },
      "Each variable is bound once and before it is read, calls name functions of the program; else ValueError.");
}

void bindCodegen(nb::module_ &m) {
  using namespace pypto::codegen;
  nb::class_<TypeConverter>(m, "TypeConverter")
      .def(nb::init<>())
      .def("ConvertDataType", &TypeConverter::ConvertDataType)
      .def("ConvertMemorySpace", &TypeConverter::ConvertMemorySpace)
      .def("ConvertPipeType", &TypeConverter::ConvertPipeType)
      .def("ConvertEventId", &TypeConverter::ConvertEventId)
      .def("GenerateShapeType", &TypeConverter::GenerateShapeType)
      .def("GenerateStrideType", &TypeConverter::GenerateStrideType);
  nb::class_<ISAMapper>(m, "ISAMapper")
      .def(nb::init<>())
      .def(
          "GetMapping",
          [](const ISAMapper &mapper, const std::string &name, nb::object attrs) -> nb::object {
            Attrs held;
            fromPython(attrs, held);
            auto mapping = mapper.GetMapping(name, held);
            return mapping ? nb::cast(mapping->isa_name) : nb::none();
          },
          nb::arg("op_name"), nb::arg("attrs") = nb::none(), "The instruction's name, or None.");
}

/// What the compiler's module gives for the program's bytes. This module holds no MLIR: importing it stays cheap.
struct PTOCodegen {
  std::string processor;
};

template <class... Args>
std::string callCompiler(const char *function, const std::shared_ptr<const Node> &node, Args &&...args) {
  std::string bytes = serialize(node);
  nb::module_ compiler = nb::module_::import_("pto_mlir._compiler");
  try {
    return nb::cast<std::string>(compiler.attr(function)(nb::bytes(bytes.data(), bytes.size()), args...));
  } catch (const nb::python_error &error) {
    if (error.matches(compiler.attr("CompileError")))
      throw ValueError(nb::str(error.value()).c_str());
    throw;
  }
}

/// The options by name, joined; an unknown one is a TypeError.
struct CodeGenerator {
  std::string options, processor;

  explicit CodeGenerator(const nb::kwargs &given) {
    for (auto [key, value] : given) {
      auto name = nb::cast<std::string>(key);
      if (name == "processor") {
        processor = nb::cast<std::string>(value);
        continue;
      }
      constexpr std::string_view known[] = {"today",        "places",    "plan", "optimise",
                                            "debug_prints", "profiling", "hints"};
      if (std::ranges::find(known, name) == std::end(known))
        throw TypeError("CodeGenerator has no option " + name);
      if (nb::cast<bool>(value))
        options += (options.empty() ? "" : ",") + name;
    }
  }
  std::string generate(const std::shared_ptr<Function> &function) const {
    return callCompiler("print_pypto_cpp", pypto::codegen::WithOutputParameters(function), options, processor);
  }
};

nb::dict generateFiles(const CodeGenerator &generator, const std::shared_ptr<Program> &program) {
  nb::dict files;
  for (const auto &[path, function] : pypto::codegen::KernelFiles(program))
    files[path.c_str()] = generator.generate(std::const_pointer_cast<Function>(function));
  nb::module_ tree = nb::module_::import_("pypto.backend.output_tree");
  files.attr("update")(tree.attr("orchestration_files")(program));
  return files;
}

void bindCompiler(nb::module_ &m) {
  nb::class_<CodeGenerator>(
      m, "CodeGenerator",
      "The C++ of one function; options: today, places, plan, optimise, debug_prints, profiling, hints "
      "(bools), processor.")
      .def(nb::init<nb::kwargs>())
      .def("Generate", &CodeGenerator::generate, nb::arg("function"),
           "The text; ValueError, with its place, for what a kernel may not hold or what has no C++.")
      .def("generate", &generateFiles, nb::arg("program"),
           "A dict path -> text of the program's kernels, its orchestration and kernel_config.py.");
  m.def("infer_function_core_type",
        [](const std::shared_ptr<Function> &function) { return pypto::codegen::InferFunctionCoreType(function); });
  m.def(
      "generate_orchestration",
      [](const nb::object &program, const nb::object &function) {
        return nb::module_::import_("pypto.backend.output_tree").attr("orchestration_of")(program, function);
      },
      nb::arg("program"), nb::arg("function"),
      "The C++ of an orchestrator: `code`, `func_name_to_id`, `func_name_to_core_type`.");
  m.attr("CceCodegen") = m.attr("CodeGenerator");
  m.attr("CCECodegen") = m.attr("CodeGenerator");
  nb::class_<PTOCodegen>(
      m, "PTOCodegen",
      "The .pto of a program's kernels, of a3 where no processor is named; needs the compiler (pto_mlir._compiler).")
      .def(
          "__init__", [](PTOCodegen *made, std::string processor) { new (made) PTOCodegen{std::move(processor)}; },
          nb::arg("processor") = "")
      .def(
          "generate",
          [](PTOCodegen &of, const std::shared_ptr<Program> &program, const std::string &style, bool slots) {
            if (style != "seed" && style != "today")
              throw ValueError("style is seed or today, not " + style);
            if (slots && style == "seed")
              throw ValueError("style seed has no slots of one allocation; style today has them");
            return callCompiler("print_pypto", program, style == "seed", of.processor, slots);
          },
          nb::arg("program"), nb::arg("style") = "seed", nb::arg("slots") = false,
          "One module of all kernels; ValueError, with its place, for what a kernel may not hold. `slots`: those of "
          "one "
          "allocation as pto.alloc_multi_tile, which newer assemblers know; else each is a tile of its own.");
}

/// Harnesses set levels of a log and watch passes; here nothing works on the IR between capture and lowering.
enum class LogLevel : int { DEBUG, INFO, WARN, ERROR, FATAL, EVENT, NONE };
LogLevel logLevel = LogLevel::ERROR;

void bindLog(nb::module_ &m) {
  nb::enum_<LogLevel> levels(m, "LogLevel");
  levels.value("DEBUG", LogLevel::DEBUG).value("INFO", LogLevel::INFO).value("WARN", LogLevel::WARN);
  levels.value("ERROR", LogLevel::ERROR).value("FATAL", LogLevel::FATAL).value("EVENT", LogLevel::EVENT);
  levels.value("NONE", LogLevel::NONE);
  m.def("set_log_level", [](LogLevel level) { logLevel = level; }, nb::arg("level"));
  m.def("get_log_level", [] { return logLevel; });
  m.def("_set_thread_log_level", [](LogLevel) {}, nb::arg("level"));
  m.def("_clear_thread_log_level", [] {});
}

enum class MemoryPlanner { PYPTO, DSA_RP, PTOAS };
enum class VerificationMode { NONE, BEFORE, AFTER, BEFORE_AND_AFTER };
struct PassInstrument {
  std::string name;
};
struct VerificationInstrument : PassInstrument {
  VerificationMode mode;
};
struct PassContext {
  nb::list instruments;
};

void bindPasses(nb::module_ &m) {
  nb::enum_<MemoryPlanner>(m, "MemoryPlanner", "Who places tiles; here it is always the one planner of the compiler.")
      .value("PYPTO", MemoryPlanner::PYPTO)
      .value("DSA_RP", MemoryPlanner::DSA_RP)
      .value("PTOAS", MemoryPlanner::PTOAS);
  nb::enum_<VerificationMode>(m, "VerificationMode")
      .value("NONE", VerificationMode::NONE)
      .value("BEFORE", VerificationMode::BEFORE)
      .value("AFTER", VerificationMode::AFTER)
      .value("BEFORE_AND_AFTER", VerificationMode::BEFORE_AND_AFTER);
  nb::class_<PassInstrument>(m, "PassInstrument").def(nb::init<std::string>()).def_ro("name", &PassInstrument::name);
  nb::class_<VerificationInstrument, PassInstrument>(m, "VerificationInstrument")
      .def(
          "__init__",
          [](VerificationInstrument *self, VerificationMode mode) {
            new (self) VerificationInstrument{{"verification"}, mode};
          },
          nb::arg("mode"));
  nb::class_<PassContext>(m, "PassContext", "Instruments around passes, as a context manager.")
      .def(nb::init<nb::list>(), nb::arg("instruments"))
      .def("get_instruments", [](const PassContext &held) { return held.instruments; })
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](PassContext &, const nb::args &) {});
}

} // namespace
} // namespace pypto::python

NB_MODULE(pypto_core, m) {
  namespace nb = nanobind;
  using namespace pypto::python;
  nb::set_leak_warnings(false); // enumerations are held until the interpreter ends
  translateErrors(m);
  bindDataType(m);
  nb::module_ ir = m.def_submodule("ir");
  bindNodes(ir);
  bindQueries(ir);
  bindBytes(ir);
  bindLog(m);
  nb::module_ passes = m.def_submodule("passes");
  bindPasses(passes);
  m.def_submodule("backend");
  nb::module_ codegen = m.def_submodule("codegen");
  bindCodegen(codegen);
  bindCompiler(codegen);
}
