// pypto.pypto_core.ir: a class per kind of node, with the fields that the C++ class names.
#include "Nodes.h"
#include "Convert.h"

#include "pypto/ir/op_registry.h"
#include "pypto/ir/printer.h"

namespace pypto::python {
namespace {

/// Arguments of a constructor, taken by position or name.
class Arguments {
public:
  Arguments(const char *owner, const nb::args &positional, const nb::kwargs &named)
      : owner(owner), named(named), span_(Span::unknown()) {
    for (nb::handle object : positional)
      if (nb::isinstance<Span>(object)) // may stand anywhere: its place changed between generations
        span_ = nb::cast<Span>(object);
      else
        values.push_back(object);
    if (named.contains("span")) {
      span_ = nb::cast<Span>(named["span"]);
      ++used;
    }
  }

  /// The argument of that name, or a null handle.
  nb::handle take(const char *name) {
    nb::handle found;
    if (position < values.size())
      found = values[position];
    ++position;
    bool isType = std::string_view(name) == "func_type"; // `type` of the constructor
    for (const char *spelling : {name, isType ? "type" : name}) {
      if (found || !named.contains(spelling))
        continue;
      found = named[spelling].operator nb::object().release(); // the dictionary keeps it
      found.dec_ref();
      ++used;
    }
    return found;
  }

  template <class T> void fill(T &node) {
    T::Fields([&](const char *name, auto member, unsigned flags) {
      nb::handle object = take(name);
      if (!object) {
        CHECK_AS(TypeError, flags & kOptional) << owner << " needs its " << name;
        return;
      }
      try {
        fromPython(object, node.*member);
      } catch (const TypeError &error) {
        throw TypeError(std::string(owner) + ": " + name + " is " + error.what());
      }
    });
    CHECK_AS(TypeError, position >= values.size() && used == named.size()) << owner << " has an argument too many";
  }

  const Span &span() const { return span_; }

private:
  const char *owner;
  nb::kwargs named;
  Span span_;
  std::vector<nb::handle> values;
  size_t position = 0;
  size_t used = 0;
};

template <class T> std::shared_ptr<T> construct(const char *name, const nb::args &positional, const nb::kwargs &named) {
  auto node = NodeAccess::New<T>();
  Arguments arguments(name, positional, named);
  arguments.fill(*node);
  if constexpr (std::is_base_of_v<IRNode, T>)
    node->span_ = arguments.span();
  NodeAccess::Complete(*node);
  return node;
}

template <class T, class C> void bindFields(C &cls) {
  T::Fields([&](const char *name, auto member, unsigned) {
    cls.def_prop_ro(name, [member](const T &node) { return toPython(node.*member); });
  });
}

template <class T, class Parent> auto bindNode(nb::module_ &m, const char *name) {
  nb::class_<T, Parent> cls(m, name);
  cls.def(nb::new_(
      [name](const nb::args &positional, const nb::kwargs &named) { return construct<T>(name, positional, named); }));
  bindFields<T>(cls);
  return cls;
}

template <class T> void bindView(nb::module_ &m, const char *name) {
  nb::class_<T> cls(m, name);
  cls.def("__init__", [name](T *self, const nb::args &positional, const nb::kwargs &named) {
    Arguments arguments(name, positional, named);
    T view;
    arguments.fill(view);
    new (self) T(std::move(view));
  });
  bindFields<T>(cls);
}

void bindSpan(nb::module_ &m) {
  nb::class_<Span>(m, "Span")
      .def(nb::init<std::string, int, int, int, int>(), nb::arg("filename"), nb::arg("begin_line"),
           nb::arg("begin_column"), nb::arg("end_line") = -1, nb::arg("end_column") = -1)
      .def_static("unknown", &Span::unknown)
      .def("is_valid", &Span::is_valid)
      .def_prop_ro("filename", [](const Span &span) { return span.filename(); })
      .def_ro("begin_line", &Span::begin_line_)
      .def_ro("begin_column", &Span::begin_column_)
      .def_ro("end_line", &Span::end_line_)
      .def_ro("end_column", &Span::end_column_)
      .def("__str__", &Span::to_string)
      .def("__repr__", [](const Span &span) { return "Span(" + span.to_string() + ")"; })
      .def("__eq__", [](const Span &a, const Span &b) { return a == b; });
}

/// Programs keep a split as its number, too.
template <class E> nb::enum_<E> enumClass(nb::module_ &m, const char *name) {
  if constexpr (std::is_same_v<E, SplitMode>)
    return nb::enum_<E>(m, name, nb::is_arithmetic());
  else
    return nb::enum_<E>(m, name);
}

template <class E> void bindEnum(nb::module_ &m, const char *name) {
  nb::enum_<E> cls = enumClass<E>(m, name);
  for (uint64_t i = 0; i < NumValues(EnumTraits<E>::kKind); ++i)
    cls.value(ValueName(static_cast<E>(i)).data(), static_cast<E>(i));
  if constexpr (std::is_same_v<E, MemorySpace>) { // their names of January 2026
    nb::object spaces = m.attr(name);
    for (auto [old, now] : {std::pair("UB", "Vec"), {"L1", "Mat"}, {"L0A", "Left"}, {"L0B", "Right"}, {"L0C", "Acc"}})
      spaces.attr(old) = spaces.attr(now);
  }
  if constexpr (std::is_same_v<E, ArgDirection>) { // the spelling of the class, beside that of `pl.adir`
    nb::object directions = m.attr(name);
    for (auto [spelled, now] : {std::pair("Input", "input"),
                                {"Output", "output"},
                                {"OutputExisting", "output_existing"},
                                {"InOut", "inout"},
                                {"NoDep", "no_dep"},
                                {"Scalar", "scalar"}})
      directions.attr(spelled) = directions.attr(now);
  }
  registerEnum(m.attr(name).ptr());
}

void bindTypes(nb::module_ &m) {
  bindNode<MemRef, Node>(m, "MemRef");
  bindView<TensorView>(m, "TensorView");
  bindView<TileView>(m, "TileView");
  nb::class_<Type, Node> base(m, "Type");
  bindNode<UnknownType, Type>(m, "UnknownType");
  bindNode<ScalarType, Type>(m, "ScalarType");
  bindNode<TensorType, Type>(m, "TensorType");
  bindNode<DistributedTensorType, TensorType>(m, "DistributedTensorType");
  bindNode<TileType, Type>(m, "TileType").def("get_memory_space", [](const TileType &type) {
    return toPython(type.GetMemorySpace());
  });
  bindNode<ArrayType, Type>(m, "ArrayType");
  bindNode<TupleType, Type>(m, "TupleType");
  bindNode<PtrType, Type>(m, "PtrType");
  bindNode<PrefetchAsyncContextType, Type>(m, "PrefetchAsyncContextType");
  bindNode<AsyncEventType, Type>(m, "AsyncEventType");
  bindNode<AsyncSessionType, Type>(m, "AsyncSessionType");
}

/// The tasks that it waits for may stand behind the arguments, in front of the keywords.
void bindSubmit(nb::module_ &m) {
  nb::class_<Submit, Call> cls(m, "Submit");
  cls.def(nb::new_([](const nb::args &positional, nb::kwargs named) {
    bool early = positional.size() > 2 && nb::isinstance<nb::list>(positional[2]);
    if (early)
      named["deps"] = positional[2];
    nb::list rest;
    for (size_t i = 0; i < positional.size(); ++i)
      if (!early || i != 2)
        rest.append(positional[i]);
    return construct<Submit>("Submit", nb::borrow<nb::args>(nb::tuple(rest)), named);
  }));
  bindFields<Submit>(cls);
}

void bindExprs(nb::module_ &m) {
  nb::class_<Expr, IRNode>(m, "Expr")
      .def_prop_ro("type", [](const Expr &expr) { return toPython(expr.type_); })
      .def("same_as", [](const Expr &expr, const Expr &other) { return &expr == &other; });
  bindNode<Var, Expr>(m, "Var").def_prop_ro("name", [](const Var &var) { return var.name_hint_; });
  bindNode<IterArg, Var>(m, "IterArg");
  bindNode<ConstInt, Expr>(m, "ConstInt") // an extent equals its number
      .def("__hash__", [](const ConstInt &constant) { return nb::hash(nb::int_(constant.value_)); })
      .def("__eq__", [](const ConstInt &constant, const nb::object &other) {
        if (nb::isinstance<nb::int_>(other) && !nb::isinstance<nb::bool_>(other))
          return nb::cast<int64_t>(other) == constant.value_;
        return nb::isinstance<ConstInt>(other) && &nb::cast<const ConstInt &>(other) == &constant;
      });
  bindNode<ConstFloat, Expr>(m, "ConstFloat");
  bindNode<ConstBool, Expr>(m, "ConstBool");
  bindNode<Op, Node>(m, "Op");
  bindNode<GlobalVar, Op>(m, "GlobalVar") // a key of `functions` like its name
      .def("__hash__", [](const GlobalVar &var) { return nb::hash(nb::str(var.name_.c_str())); })
      .def("__eq__", [](const GlobalVar &var, const nb::object &other) {
        if (nb::isinstance<nb::str>(other))
          return var.name_ == nb::cast<std::string>(other);
        return nb::isinstance<GlobalVar>(other) && var.name_ == nb::cast<const GlobalVar &>(other).name_;
      });
  bindNode<Call, Expr>(m, "Call");
  bindSubmit(m);
  bindNode<MakeTuple, Expr>(m, "MakeTuple");
  bindNode<TupleGetItemExpr, Expr>(m, "TupleGetItemExpr");
  auto binary = nb::class_<BinaryExpr, Expr>(m, "BinaryExpr");
  bindFields<BinaryExpr>(binary);
  auto unary = nb::class_<UnaryExpr, Expr>(m, "UnaryExpr");
  bindFields<UnaryExpr>(unary);
#define PYPTO_BINARY(Name, ...)                                                                                        \
  nb::class_<Name, BinaryExpr>(m, #Name).def(                                                                          \
      nb::new_([](nb::object left, nb::object right, DataType dtype, const Span &span) {                               \
        return std::make_shared<Name>(exprFrom(left), exprFrom(right), dtype, span);                                   \
      }),                                                                                                              \
      nb::arg("left"), nb::arg("right"), nb::arg("dtype"), nb::arg("span") = Span());
  PYPTO_BINARY_EXPRS(PYPTO_BINARY)
#undef PYPTO_BINARY
#define PYPTO_UNARY(Name, ...)                                                                                         \
  nb::class_<Name, UnaryExpr>(m, #Name).def(nb::new_([](nb::object operand, DataType dtype, const Span &span) {        \
                                              return std::make_shared<Name>(exprFrom(operand), dtype, span);           \
                                            }),                                                                        \
                                            nb::arg("operand"), nb::arg("dtype"), nb::arg("span") = Span());
  PYPTO_UNARY_EXPRS(PYPTO_UNARY)
#undef PYPTO_UNARY
}

void bindStmts(nb::module_ &m) {
  nb::class_<Stmt, IRNode> base(m, "Stmt");
  nb::class_<ScopeStmt, Stmt> scope(m, "ScopeStmt");
  bindFields<ScopeStmt>(scope);
#define PYPTO_STMT(Name)                                                                                               \
  bindNode<Name, std::conditional_t<std::is_base_of_v<ScopeStmt, Name>, ScopeStmt, Stmt>>(m, #Name);
  PYPTO_STMTS(PYPTO_STMT)
#undef PYPTO_STMT
}

void bindFunctions(nb::module_ &m) {
  bindNode<Function, IRNode>(m, "Function");
  nb::class_<Program, IRNode> cls(m, "Program", nb::dynamic_attr()); // sub_workers, by pl.program
  cls.def(nb::new_([](const nb::args &positional, const nb::kwargs &named) {
       return construct<Program>("Program", positional, named);
     }))
      .def_ro("name", &Program::name_)
      .def_prop_ro("functions",
                   [](const Program &program) {
                     nb::dict functions;
                     for (const FunctionPtr &function : program.functions_)
                       functions[function->name_.c_str()] = toPython(function);
                     return functions;
                   })
      .def("get_function",
           [](const Program &program, const std::string &name) { return toPython(program.GetFunction(name)); })
      .def(
          "get_global_var",
          [](const Program &program, const std::string &name) -> std::shared_ptr<GlobalVar> {
            return program.GetFunction(name) ? std::make_shared<GlobalVar>(name) : nullptr;
          },
          "What calls of the function of that name name, a key of `functions`; None where there is none.");
}

} // namespace

void bindNodes(nb::module_ &m) {
  bindSpan(m);
#define PYPTO_ENUM(Name, ...) bindEnum<Name>(m, #Name);
  PYPTO_ENUMS(PYPTO_ENUM)
#undef PYPTO_ENUM
  nb::class_<Node>(m, "Node")
      .def(
          "as_python",
          [](const std::shared_ptr<Node> &node, const std::string &prefix) { return python_print(node, prefix); },
          nb::arg("prefix") = "pl")
      .def("__str__", [](const std::shared_ptr<Node> &node) { return python_print(node); })
      .def("__repr__", [](const Node &node) { return "<ir." + std::string(KindName(node.kind())) + ">"; });
  nb::class_<IRNode, Node>(m, "IRNode").def_ro("span", &IRNode::span_);
  bindTypes(m);
  bindExprs(m);
  bindStmts(m);
  bindFunctions(m);
}

} // namespace pypto::python
