//! A module: what one SPIR-V module holds, shared by all of its entry points.

use crate::dialect::Dialects;
use crate::entity::{Func, SpecConst, Type, Var};
use crate::func::Function;
use crate::types::{Decoration, Modes, TypeData, TypeTable};

/// A shader stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // the names are the definition
pub enum Stage {
    Vertex,
    TessControl,
    TessEval,
    Geometry,
    Fragment,
    Compute,
    Task,
    Mesh,
    RayGen,
    Intersection,
    AnyHit,
    ClosestHit,
    Miss,
    Callable,
}

impl Stage {
    /// Every stage with its name in the text.
    pub const NAMES: &'static [(&'static str, Stage)] = &[
        ("vertex", Stage::Vertex),
        ("tess_control", Stage::TessControl),
        ("tess_eval", Stage::TessEval),
        ("geometry", Stage::Geometry),
        ("fragment", Stage::Fragment),
        ("compute", Stage::Compute),
        ("task", Stage::Task),
        ("mesh", Stage::Mesh),
        ("ray_gen", Stage::RayGen),
        ("intersection", Stage::Intersection),
        ("any_hit", Stage::AnyHit),
        ("closest_hit", Stage::ClosestHit),
        ("miss", Stage::Miss),
        ("callable", Stage::Callable),
    ];
}

/// An operand of an execution mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ModeArg {
    /// A literal.
    Literal(u32),
    /// A specialisation constant.
    Spec(SpecConst),
}

/// A SPIR-V execution mode of an entry point.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ExecutionMode {
    /// Name of the enumerant.
    pub name: String,
    /// Operands.
    pub args: Vec<ModeArg>,
}

/// An entry point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryPoint {
    /// Stage.
    pub stage: Stage,
    /// Name by which the API finds it.
    pub name: String,
    /// The function it enters.
    pub function: Func,
    /// Execution modes in order.
    pub modes: Vec<ExecutionMode>,
    /// Interface variables in order.
    pub interface: Vec<Var>,
}

/// A constant of any type, as an initialiser.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constant {
    /// A scalar or vector: zero-extended bits a component.
    Bits(Vec<u64>),
    /// The members, elements or columns in order.
    Composite(Vec<Constant>),
    /// All zeros.
    Null,
    /// Any value.
    Undef,
    /// A specialisation constant.
    Spec(SpecConst),
    /// The address of a module variable.
    Address(Var),
}

/// A variable of a module or function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// Debug name; may be empty.
    pub name: String,
    /// Where it lives: one bit.
    pub mode: Modes,
    /// Its type.
    pub ty: Type,
    /// Descriptor set and binding.
    pub binding: Option<(u32, u32)>,
    /// Location of a stage input or output.
    pub location: Option<u32>,
    /// Name of the SPIR-V built-in that it stands for.
    pub builtin: Option<String>,
    /// Initial value.
    pub init: Option<Constant>,
    /// Whatever else it is decorated with.
    pub decorations: Vec<Decoration>,
}

impl Variable {
    /// A variable without decorations.
    pub fn new(name: impl Into<String>, mode: Modes, ty: Type) -> Self {
        Variable {
            name: name.into(),
            mode,
            ty,
            binding: None,
            location: None,
            builtin: None,
            init: None,
            decorations: Vec::new(),
        }
    }

    /// Whether it carries the decoration.
    pub fn has_decoration(&self, name: &str) -> bool {
        self.decorations.iter().any(|d| d.name == name)
    }
}

/// How a specialisation constant gets its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecValue {
    /// A scalar that the API may replace, with its default bits.
    Scalar {
        /// The id that the API knows it by (`SpecId`); `None` if it can't be replaced.
        id: Option<u32>,
        /// Default, zero-extended.
        default: u64,
    },
    /// Composed of others (or of constants).
    Composite(Vec<Constant>),
    /// Computed from others, as an `OpSpecConstantOp`.
    Op {
        /// Name of the SPIR-V instruction without `Op`.
        opcode: String,
        /// Operands: constants, or literals where the instruction has them.
        args: Vec<SpecArg>,
    },
}

/// An operand of a computed specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SpecArg {
    /// A constant of the given type.
    Constant(Type, Constant),
    /// A literal of the instruction.
    Literal(u32),
}

/// A specialisation constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// Debug name; may be empty.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value.
    pub value: SpecValue,
    /// Decorations other than `SpecId`, e.g. the built-in `WorkgroupSize`.
    pub decorations: Vec<Decoration>,
}

/// Which instructions a module may hold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Form {
    /// Memory through derefs: what front ends give and the SPIR-V writer takes.
    #[default]
    Logical,
    /// I/O lowered to offsets.
    Explicit,
    /// Registers, source modifiers, write masks.
    Backend,
}

/// What of the SPIR-V header and preamble has no other place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpirvInfo {
    /// Major and minor version.
    pub version: (u8, u8),
    /// Names of the capabilities in order.
    pub capabilities: Vec<String>,
    /// Names of the extensions in order.
    pub extensions: Vec<String>,
    /// Name of the addressing model.
    pub addressing: String,
    /// Name of the memory model.
    pub memory: String,
}

/// Capabilities that the IR's users ask for, each with one that implies it (the SPIR-V specification, 3.31).
const IMPLIED: [(&str, &str); 3] = [
    ("Int8", "DotProductInput4x8Bit"),
    ("Int64", "Int64Atomics"),
    ("VariablePointersStorageBuffer", "VariablePointers"),
];

impl SpirvInfo {
    /// Whether the module has a capability: it declares it, or one that implies it.
    ///
    /// ```
    /// let mut info = deburr_ir_core::SpirvInfo::default();
    /// info.capabilities.push("Int64Atomics".into());
    /// assert!(info.has_capability("Int64") && !info.has_capability("Int8"));
    /// ```
    pub fn has_capability(&self, name: &str) -> bool {
        let declared = |name: &str| self.capabilities.iter().any(|c| c == name);
        declared(name) || IMPLIED.iter().any(|(implied, by)| *implied == name && declared(by))
    }
}

impl Default for SpirvInfo {
    fn default() -> Self {
        SpirvInfo {
            version: (1, 3),
            capabilities: vec!["Shader".into()],
            extensions: Vec::new(),
            addressing: "Logical".into(),
            memory: "GLSL450".into(),
        }
    }
}

/// A module.
#[derive(Clone, Debug, Default)]
pub struct Module {
    /// Form of the code.
    pub form: Form,
    /// SPIR-V preamble.
    pub spirv: SpirvInfo,
    /// Types.
    pub types: TypeTable,
    /// Specialisation constants, each after those it is made of.
    pub spec_consts: Vec<SpecConstant>,
    /// Variables of all modes but [`Modes::FUNCTION`].
    pub vars: Vec<Variable>,
    /// Functions.
    pub functions: Vec<Function>,
    /// Entry points.
    pub entry_points: Vec<EntryPoint>,
    /// The dialects whose opcodes and intrinsics the code may use.
    pub dialects: Dialects,
}

impl std::ops::Index<Func> for Module {
    type Output = Function;

    fn index(&self, func: Func) -> &Function {
        &self.functions[func.index()]
    }
}

impl std::ops::IndexMut<Func> for Module {
    fn index_mut(&mut self, func: Func) -> &mut Function {
        &mut self.functions[func.index()]
    }
}

impl Module {
    /// An empty module.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a function.
    pub fn add_function(&mut self, function: Function) -> Func {
        self.functions.push(function);
        Func((self.functions.len() - 1) as u32)
    }

    /// Adds a variable.
    pub fn add_var(&mut self, var: Variable) -> Var {
        self.vars.push(var);
        Var::global(self.vars.len() - 1)
    }

    /// Whether a module variable is a block in shared memory: all of these lie over each other, from offset 0 on.
    pub fn is_shared_block(&self, var: Var) -> bool {
        let Some(var) = self.vars.get(var.slot()).filter(|_| !var.is_local()) else { return false };
        match &self.types[var.ty] {
            TypeData::Struct(s) => {
                var.mode == Modes::SHARED && s.decorations.iter().any(|d| d.name == "Block")
            }
            _ => false,
        }
    }

    /// All function ids in order.
    pub fn funcs(&self) -> impl ExactSizeIterator<Item = Func> + use<> {
        (0..self.functions.len() as u32).map(Func)
    }

    /// The variable that a function's code means by `var`.
    pub fn var<'m>(&'m self, function: &'m Function, var: Var) -> &'m Variable {
        if var.is_local() { &function.locals[var.slot()] } else { &self.vars[var.slot()] }
    }
}
