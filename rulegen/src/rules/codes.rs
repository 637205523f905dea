//! Error codes of the rule language, each with the text that `explain-error` prints.

use crate::diagnostics::{Code, CodeInfo};

macro_rules! codes {
    ($($name:ident = $number:literal, $title:literal, $explanation:literal;)*) => {
        $(#[doc = $title] pub const $name: Code = Code($number);)*
        /// Every code of the rule language.
        pub const CODES: &[CodeInfo] = &[
            $(CodeInfo { code: $name, title: $title, explanation: $explanation },)*
        ];
    };
}

codes! {
    SYNTAX = 301, "a rule file that doesn't follow the grammar",
        "The grammar is in the language reference. A file begins with `rules 1`; a rule is `rule NAME: PATTERN => REPLACEMENT CLAUSES;`.";
    CLAUSE_ORDER = 303, "clauses out of order, or twice",
        "Clauses stand in the order where, with, when, if, group, canonical, ulps, allow, waive, test, and only allow and test may be repeated.";
    UNKNOWN_OP = 304, "an opcode that is not in the table",
        "Names of opcodes come from `opcodes.toml`; `deburr ops` lists them.";
    UNKNOWN_FACT = 305, "a fact or function that is not in the library",
        "Facts and functions are defined in `rules/facts.rules`, each by an expression.";
    UNKNOWN_FLAG = 306, "an unknown promise or licence",
        "Promises are nnan, ninf, nuw, nsw and dom and are written on an op. Licences are nsz, arcp, contract, reassoc, transform and relaxed and are written behind `with`.";
    FLAG_KIND = 307, "a licence where a promise stands, or the reverse",
        "A promise restricts the inputs and is written on the op that makes it (`iadd.nsw(a, b)`). A licence lets the rewriter change results and is written behind `with`.";
    UNKNOWN_OPTION = 308, "an unknown target option",
        "`when` tests options of the target, written `target.NAME`.";
    UNKNOWN_PROFIT = 309, "an unknown profit test",
        "`if` asks whether a rewrite is worth it, as in `once(m)`: the operation `m` has no other user. The language reference lists the tests.";
    UNKNOWN_GROUP = 310, "a group that groups.rules doesn't list",
        "Every group is declared in `rules/groups.rules`, whose order is the order of the groups.";
    ARITY = 311, "a wrong number of operands",
        "An op, fact or function takes exactly the operands of its signature.";
    SIZE_CONFLICT = 312, "bit sizes that can't be equal",
        "Sizes are inferred from the signatures of the ops; an unsized operand has the width of its op's other unsized operands.";
    COMPS_CONFLICT = 313, "component counts that can't be equal",
        "An op without component counts in its signature works per component: its operands have as many components as its result.";
    AMBIGUOUS_SIZE = 314, "a size of the replacement that the pattern doesn't determine",
        "Annotate the variable or constant with a size, or use an op whose size follows from the pattern.";
    UNBOUND = 315, "a variable of the replacement that the pattern doesn't bind",
        "Every variable is bound by the pattern, by `m@` or by a `let`.";
    UNUSED = 316, "a name that is bound and never used",
        "A `let`, a `m@` or a constant that nothing uses is a mistake more often than not. A variable that the pattern only ignores is fine.";
    REBOUND = 317, "a name that is bound twice",
        "A variable may occur several times in the pattern, where it stands for equal values. A `m@`, a `let` and a `#c` bind once.";
    LITERAL = 318, "a literal that doesn't fit its operand",
        "Integers must fit the operand's size as signed or unsigned number at every size the rule holds for, floats must be exactly representable.";
    DUPLICATE = 319, "two rules with the same left side",
        "The second can never fire where the first does. Join them, or say `allow E0319 \"why\"`.";
    UNREACHABLE = 320, "a rule that can never fire",
        "An earlier rule of the same group matches whatever this one matches.";
    CONVERGENT = 321, "a replacement that creates a convergent operation",
        "Derivatives and subgroup operations may only be created at a matched root of the same kind.";
    EMPTY_TEMPLATE = 322, "a template that expands to nothing",
        "A loop over no values, or a loop without rules, stamps no rule.";
    TEMPLATE = 323, "a loop that doesn't fit its values",
        "Each turn has as many values as the loop has names, and each value must fit where its name stands.";
    NAME = 324, "a rule name that is taken, or malformed",
        "Rule names are unique in the whole tree and consist of a-z, 0-9 and _.";
    NO_SIZE = 325, "a rule that holds for no size",
        "No admissible bit size satisfies all operands of the rule.";
    FACT_ARG = 326, "an argument that the fact can't take",
        "Facts that no analysis answers need constants; write `#c` in the pattern. Parameters after the first are constants.";
    EXPR = 327, "an expression of what is no constant",
        "Computed constants use the language of the opcode table's `eval` column over the constants that the pattern matches, as in `#c`. What the language refuses in them has a code of its own, E02xx.";
    NO_LICENCE = 328, "a licence that no matched instruction can carry",
        "Only float arithmetic carries licences; a rule without any in its pattern can't ask for one.";
    ROOT = 329, "a pattern that isn't an operation",
        "The left side is an ALU operation; variables and constants match everything and rewrite nothing.";
    SWIZZLE = 330, "a swizzle that doesn't fit",
        "Letters are x, y, z, w up to four components and a to p above. A variable is used either with or without swizzles in a pattern. `#c` stands for what its operand reads, under whatever swizzle, so that it has none in a pattern. In a replacement the swizzles of variables and of what `let` names take components that these are known to have: as many as their operands have, or as the pattern's own swizzles name; of what has as many components as the root only `.x`, where nothing fixes these.";
    ALTERNATIVES = 331, "alternatives that hide each other",
        "Each alternative but the last has an `if`; `otherwise` stands on the last only.";
    ENV = 332, "an environment clause that says nothing",
        "Keys are denorm (keep, flush, any) and rounding (rte, rtz, any); the float environment only matters to float arithmetic.";
    PROMISE = 333, "a promise that the op can't carry",
        "nnan and ninf stand on float arithmetic, nuw and nsw on the ops whose table entry defines overflow, dom on ops with a domain.";
    SELF = 334, "a replacement equal to its pattern",
        "Such a rule rewrites forever and changes nothing. Nor can a replacement be made of the operation that it replaces: it would be its own operand.";
    TERM_ONLY = 335, "a term that can't stand in a replacement",
        "`#c` binds a constant in a pattern; in a replacement the constant is written plain.";
    PROFIT_CONST = 336, "a profit test that always holds, or never",
        "A value that the pattern matches has a use, and uses are counted up to 64; a value that an operation of the pattern uses is used as that operation.";
    CHAIN = 337, "an `ac` that stands for no chain",
        "`ac(op: a, #c)` finds its operands anywhere in a chain of one operation, which must be associative and commutative. Float operations are that only under `with reassoc`. A chain of `iand` or `ior` hides operands that break promises, in one bracketing and not in another, so that only the constant can take its place that hides them all. What stands in an `ac` is no operation of the same kind: its operands are operands of the chain.";
    EFFECT = 338, "an effect that a rule would drop or make",
        "A matched root goes away, and what a rule makes may be made any number of times: neither may write memory or order what does. `deburr intrinsics` lists what each does: a root must have the flag `eliminate`, what is made also `reorder`.";
    INDEX = 339, "a const index or attribute that doesn't fit",
        "The const indices of an intrinsic are those of its entry in `intrinsics.toml`, with values of their types. In a pattern those that are written must have the value; in a replacement the others have their defaults.";
    MADE = 340, "a texture operation or phi that can't be made there",
        "A texture operation takes its dimensions, kind of result and access from the one in whose place it stands, so that it must be the whole replacement of a texture operation: the same, or one that samples for another that samples, with the sources by which it finds its level. A phi takes block and edges from the one in whose place it stands: it is part of the replacement of a phi, and its operands are values that the pattern matches, without a swizzle, under the operand of the matched phi that stands at the same place. Anything else would have to be computed in the blocks before, and the edges from there may be taken where the phi isn't wanted.";
    ULPS = 341, "a bound that no licence allows",
        "`ulps N` says by how much results may be off under `contract`, `arcp`, `reassoc`, `transform` or `relaxed`. Without such a licence they may not be off at all.";
    BITS_USED = 379, "a `bits_used` that can't be asked",
        "`bits_used(k)` says that the users of the root read no bits of it but those of the constant `k`. The root is an integer operation, and `k` leaves out some bit. With it the two sides need to agree in the bits of `k` only.";
    ALLOW = 360, "an `allow` of a check that there isn't",
        "`allow E0319 \"why\"` names the code of a check of rules, as its message shows it.";
    TEST = 361, "a `test` that can't be run",
        "A test gives a value to every variable that the rule's sides read, and the result that both have for them: `test (a = 7, c = 8) -> 56`.";
    NO_ORDER = 370, "a rule that no order makes come to an end",
        "Rules of a group must not go round. Every replacement must be smaller than its pattern in one order that the build finds: by weights of operations, then by a precedence of operations. The message has a term that goes round, with what each rule makes of it, if one was found. The rules of a file that `deburr opt --rules` is given are held to one order with those built in. A rule that fits no order with the others says `canonical \"what stops it\"`, and is then run in search of a circle.";
    UNDO = 372, "rules of two groups that undo each other",
        "A pipeline that runs both groups in a loop never comes to its fixed point. Two forms that different targets prefer need a target option, so that exactly one of the rules fires.";
    OVERLAP = 373, "two rules that match the same terms and give different values",
        "An earlier rule of the group matches whatever this one matches, and at some values that satisfy the facts of both their replacements are not equal: one of the two is wrong.";
    FACTS_NEVER = 374, "facts that can't hold together",
        "Values were tried at every size of the rule, all of them at small sizes, and none satisfies every fact. The message has values that come closest.";
    FACT_ALWAYS = 375, "a fact that always holds",
        "The fact holds at every value tried at which the other facts hold, so that it restricts nothing and the matcher tests it for nothing.";
    NO_TARGET = 376, "a rule that no target allows",
        "No choice of target options makes the `when` clause true.";
    DEARER = 377, "a replacement that costs more than its pattern",
        "The operations of the replacement cost more than those of the pattern, by the `cost` column of the opcode table, or as much and are more. Such a rule may be what others rest on: it then says so by `allow E0377 \"what it is good for\"`.";
    NOWHERE = 378, "a replacement that no target has",
        "A rule fires only where the target has what it makes, those operations apart that the pattern has. The target `generic` has everything and is nobody's; the other one is SPIR-V, which has what the `spirv` columns of the tables say is written. Of the rule's replacement, or of this alternative, SPIR-V lacks something at every size of the rule, whatever a module declares, so that it does nothing for who uses deburr as it is. If it is for a back end, it says for which: by `allow E0378 \"which targets have it\"`, by a target option that SPIR-V doesn't set (`when target.lower_bitops`), or by a group whose name begins with `lower`. A rule whose pattern has an operation that SPIR-V lacks is for back ends already, and so are the rules of a dialect: they are not looked at.";
}
