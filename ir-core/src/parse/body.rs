//! Bodies of functions: the control-flow tree, labels of values and blocks.

use super::lex::Tok;
use super::{Parsed, Parser};
use crate::cf::NodeKind;
use crate::entity::{Block, CfList, Def, Instr, UseId};
use crate::func::Function;
use crate::instr::Swizzle;
use crate::intrinsic::Index;
use crate::module::Module;
use rustc_hash::FxHashMap;

/// Numbers for labels in the order in which they are first seen, used in place of entities until all are known.
pub(super) struct LabelMap<'s, E> {
    ids: FxHashMap<&'s str, u32>,
    /// What each label stands for, and a token that it is at.
    meaning: Vec<(Option<E>, usize)>,
}

impl<'s, E: Copy> LabelMap<'s, E> {
    fn new() -> Self {
        LabelMap { ids: FxHashMap::default(), meaning: Vec::new() }
    }

    pub fn id(&mut self, label: &'s str, token: usize) -> u32 {
        let next = self.meaning.len() as u32;
        let id = *self.ids.entry(label).or_insert(next);
        if id == next {
            self.meaning.push((None, token));
        }
        id
    }

    /// Defines the label; `false` if it was defined before.
    pub fn define(&mut self, label: &'s str, token: usize, entity: E) -> bool {
        let id = self.id(label, token) as usize;
        self.meaning[id].0.replace(entity).is_none()
    }

    pub fn get(&self, id: u32) -> Option<E> {
        self.meaning.get(id as usize)?.0
    }

    fn undefined(&self) -> impl Iterator<Item = usize> {
        self.meaning.iter().filter(|(e, _)| e.is_none()).map(|(_, token)| *token)
    }
}

/// A body under construction. Sources hold label numbers until [`Parser::finish_body`].
pub(super) struct Body<'s, 'f> {
    pub f: &'f mut Function,
    pub defs: LabelMap<'s, Def>,
    blocks: LabelMap<'s, Block>,
    /// ALU sources without a swizzle, and how many components they read.
    pub implicit: Vec<(Instr, usize, u8)>,
    /// Stores without a write mask: they write all components of this source.
    pub masks: Vec<(Instr, usize)>,
    started: bool,
}

/// A list being read, and what it is a part of.
enum Open {
    Body,
    Then(CfList, CfList),
    Else(CfList),
    LoopBody(CfList, CfList),
    Other(CfList),
}

impl Open {
    fn list(&self, f: &Function) -> CfList {
        match *self {
            Open::Body => f.body(),
            Open::Then(list, _)
            | Open::Else(list)
            | Open::LoopBody(list, _)
            | Open::Other(list) => list,
        }
    }
}

impl Body<'_, '_> {
    /// The block at the end of a list, made if there is none.
    fn current_block(&mut self, list: CfList) -> Block {
        self.started |= list == self.f.body();
        match self.f.last_list_block(list) {
            Some(block) => block,
            None => self.f.append_block(list),
        }
    }

    /// A new block at the end of a list; `None` if a block ends it already.
    fn begin_block(&mut self, list: CfList) -> Option<Block> {
        if list == self.f.body() && !self.started {
            self.started = true;
            return Some(self.f.start_block());
        }
        match self.f.last_list_block(list) {
            Some(_) => None,
            None => Some(self.f.append_block(list)),
        }
    }
}

impl<'s> Parser<'s> {
    /// Reads `{ … }`. Errors within are kept; the result is only complete if there were none.
    pub(super) fn body(&mut self, module: &mut Module, function: &mut Function) -> Parsed<()> {
        self.expect('{')?;
        let mut body = Body {
            f: function,
            defs: LabelMap::new(),
            blocks: LabelMap::new(),
            implicit: Vec::new(),
            masks: Vec::new(),
            started: false,
        };
        let mut open = vec![Open::Body];
        while let Some(innermost) = open.last() {
            let list = innermost.list(body.f);
            match *self.peek() {
                Tok::Punct('}') => {
                    body.current_block(list);
                    self.bump();
                    if let Some(closed) = open.pop() {
                        open.extend(self.closed(&mut body, closed)?);
                    }
                }
                Tok::Word("block") => self.block_header(&mut body, list)?,
                Tok::Word("if" | "loop" | "once") => {
                    body.current_block(list);
                    open.push(self.open_node(&mut body, list)?);
                }
                Tok::Word("decl_var") => {
                    self.bump();
                    self.local(module, body.f)?;
                }
                Tok::Eof => return self.expected("`}`"),
                _ => {
                    let line = self.token().line;
                    let block = body.current_block(list);
                    if let Err(error) = self.instr(module, &mut body, block) {
                        if !self.report(error) {
                            return Err(self.error("too many errors"));
                        }
                        let line = line.max(self.tokens[self.at.saturating_sub(1)].line);
                        self.skip_line(line);
                    }
                }
            }
        }
        self.finish_body(body);
        Ok(())
    }

    fn block_header(&mut self, body: &mut Body<'s, '_>, list: CfList) -> Parsed<()> {
        let start = self.at;
        self.bump();
        let at = self.at;
        let label = self.word("the label of a block")?;
        self.expect(':')?;
        let Some(block) = body.begin_block(list) else {
            return Err(self.error_at(start, "a block follows a block"));
        };
        match body.blocks.define(label, at, block) {
            true => Ok(()),
            false => Err(self.error_at(at, format!("the block `{label}` was there before"))),
        }
    }

    /// Reads the head of an `if`, loop or `once`.
    fn open_node(&mut self, body: &mut Body<'s, '_>, list: CfList) -> Parsed<Open> {
        let word = self.word("`if`, `loop` or `once`")?;
        let node;
        let opened = if word == "if" {
            let condition = self.src(body)?;
            let (then_list, else_list) = (body.f.raw_list(), body.f.raw_list());
            node = body.f.append_node(list, NodeKind::If { then_list, else_list });
            body.f.raw_condition(node, condition);
            Open::Then(then_list, else_list)
        } else if word == "loop" {
            let (loop_body, continue_list) = (body.f.raw_list(), body.f.raw_list());
            node = body.f.append_node(list, NodeKind::Loop { body: loop_body, continue_list });
            Open::LoopBody(loop_body, continue_list)
        } else {
            let once = body.f.raw_list();
            node = body.f.append_node(list, NodeKind::Once { body: once });
            Open::Other(once)
        };
        if word != "once" && self.eat_word("control") {
            self.expect('(')?;
            let control = self.small("control bits")?;
            body.f.set_node_control(node, control);
            self.expect(')')?;
        }
        self.expect('{')?;
        Ok(opened)
    }

    /// What follows a closing brace: the list that opens next as a part of the same node.
    fn closed(&mut self, body: &mut Body<'s, '_>, closed: Open) -> Parsed<Option<Open>> {
        let (next, word, open): (CfList, &str, fn(CfList) -> Open) = match closed {
            Open::Then(_, else_list) => (else_list, "else", Open::Else),
            Open::LoopBody(_, continue_list) => (continue_list, "continue", Open::Other),
            Open::Body | Open::Else(_) | Open::Other(_) => return Ok(None),
        };
        if *self.peek_at(1) == Tok::Punct('{') && self.eat_word(word) {
            self.bump();
            return Ok(Some(open(next)));
        }
        body.current_block(next);
        Ok(None)
    }

    /// The number of the label of a value, as a def.
    pub(super) fn src(&mut self, body: &mut Body<'s, '_>) -> Parsed<Def> {
        let at = self.at;
        let label = self.sigil('%', "a value")?;
        Ok(Def(body.defs.id(label, at)))
    }

    /// The number of the label of a block, as a block.
    pub(super) fn pred(&mut self, body: &mut Body<'s, '_>) -> Parsed<Block> {
        let at = self.at;
        let label = self.word("the label of a block")?;
        Ok(Block(body.blocks.id(label, at)))
    }

    /// Replaces label numbers by what they stand for, and makes use lists and edges.
    fn finish_body(&mut self, body: Body<'s, '_>) {
        let Body { f, defs, blocks, implicit, masks, .. } = body;
        for token in defs.undefined() {
            let error = self.error_at(token, "this value is defined nowhere");
            self.report(error);
        }
        for token in blocks.undefined() {
            let error = self.error_at(token, "there is no such block");
            self.report(error);
        }
        if !self.errors.is_empty() {
            return;
        }
        for pred in &mut f.phi_preds {
            *pred = blocks.get(pred.0).unwrap_or(*pred);
        }
        for record in &mut f.uses {
            record.def = defs.get(record.def.0).unwrap_or(record.def);
        }
        for (instr, n, reads) in implicit {
            if reads > 1 && f.comps(f.src(instr, n)) == 1 {
                f.set_swizzle(instr, n, Swizzle::splat(0));
            }
        }
        for (instr, stored) in masks {
            let comps = f.comps(f.src(instr, stored));
            f.set_index(instr, Index::WRITE_MASK, (1 << comps) - 1);
        }
        for id in 0..f.uses.len() {
            f.link_use(UseId(id as u32));
        }
        f.compute_edges();
    }
}
