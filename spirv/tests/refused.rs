//! What SPIR-V can't say is refused, with its place in the IR.

use deburr_spirv::{ErrorKind, WriteOptions, write};

/// The error of writing a compute shader of this code, in a function that takes a pointer too.
fn refused(code: &str) -> Result<(), (ErrorKind, String)> {
    let text = format!(
        "deburr_ir 1
shader compute \"main\" entry(main) LocalSize(1, 1, 1)
decl_type Words = struct(Block) {{ [u32; *, stride=4] (offset=0), }}
decl_var ssbo Words &buf (0, 0)
decl_function main()
decl_function f(ptr(function, u32) p) -> u32
impl main {{
  decl_var function u32 &x
  block b:
    32 %zero = load_const (0x0)
    32 %x = deref_var &x
    32 %buf = deref_var &buf
    32 %words = deref_struct &(%buf).0
    32 %word = deref_array &(%words)[%zero]
    32 %value = @load_deref %word
    {code}
}}
impl f {{
  block b:
    32 %p = @load_param
    32 %q = deref_cast &(%p) (function u32)
    32 %v = @load_deref %q
    return %v
}}
"
    );
    let module = deburr_ir_core::parse(&text).unwrap_or_else(|e| panic!("{code}: {e:?}"));
    write(&module, &WriteOptions::default()).map(|_| ()).map_err(|e| {
        let place = e.ir.as_ref().map_or("nowhere", |(function, _)| &function[..]);
        (e.kind, format!("{e} in {place}"))
    })
}

#[track_caller]
fn check(code: &str, message: &str) {
    assert_eq!(
        refused(code),
        Err((ErrorKind::Unsupported, format!("{message} in main"))),
        "{code}"
    );
}

#[test]
fn addresses_of_memory_that_has_none() {
    let message = "a pointer into memory without addresses as a number";
    check("32 %n = iadd %x, %zero @store_deref %word, %n (write_mask=x)", message);
    check("@store_deref %word, %word (write_mask=x)", message);
    check(
        "1 %c = ieq %word, %zero 32 %n = b2i32 %c @store_deref %word, %n (write_mask=x)",
        message,
    );
}

#[test]
fn numbers_as_pointers() {
    check("32 %n = call f(%value)", "a number as a pointer into memory");
    check("32 %n = call f(%zero)", "a null pointer into memory without addresses");
    check("32 %u = undef 32 %n = call f(%u)", "a null pointer into memory without addresses");
    let one = "32 %one = load_const (0x1) 32 %n = call f(%one)";
    check(one, "a number as a pointer into memory");
    let cast = "32 %p = deref_cast &(%value) (ssbo u32) 32 %n = @load_deref %p @store_deref %p, %n";
    check(cast, "a number as a pointer into memory");
    assert_eq!(refused("32 %n = call f(%x) @store_deref %word, %n (write_mask=x)"), Ok(()));
}

/// As many constructs in each other, each with something in it.
fn nested(count: usize, open: &str, close: &str) -> Result<(), (ErrorKind, String)> {
    let store = "@store_deref %word, %zero (write_mask=x)";
    let code =
        format!("{} {store} {}", format!("{store} {open} ").repeat(count), close.repeat(count));
    refused(&format!("1 %c = ine %value, %zero {code}"))
}

#[test]
fn constructs_nest_to_the_limit() {
    let limit =
        Err((ErrorKind::Limit, "more than 1023 nested constructs in `main` in nowhere".into()));
    for (open, close) in
        [("if %c {", "} "), ("if %c { } else {", "} "), ("loop {", "break } "), ("once {", "} ")]
    {
        assert_eq!(nested(1023, open, close), Ok(()), "{open}");
        assert_eq!(nested(1024, open, close), limit, "{open}");
    }
}

/// A switch is one construct, however many rungs its ladder has.
#[test]
fn rungs_are_no_constructs() {
    let rung = |n: usize| {
        format!(
            "32 %k{n} = load_const ({n}) 1 %c{n} = ieq %value, %k{n} \
             if %c{n} {{ @store_deref %word, %k{n} (write_mask=x) }} else {{ "
        )
    };
    let count = 3000;
    let ladder: String = (0..count).map(rung).collect();
    assert_eq!(refused(&format!("{ladder} {}", "} ".repeat(count))), Ok(()));
    let within = format!("once {{ {ladder} {} }}", "} ".repeat(count));
    assert_eq!(refused(&within), Ok(()));
}
