//! `deburr explain-error`: what an error code means.

use crate::codes;
use crate::json::Object;
use crate::report::{Exit, Reporter};
use deburr_rulegen::diagnostics::CodeInfo;

/// Say what an error code means.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  deburr explain-error E0304\n  deburr explain-error --json")]
pub struct Args {
    /// The code; every code if not given
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// Every code that diagnostics carry, ascending.
pub fn all() -> Vec<CodeInfo> {
    let lists = [
        codes::CODES,
        deburr_rulegen::tables::CODES,
        deburr_rulegen::expr::CODES,
        deburr_rulegen::rules::codes::CODES,
    ];
    let mut all: Vec<CodeInfo> = lists.into_iter().flatten().copied().collect();
    all.sort_by_key(|info| info.code);
    all
}

/// Runs the subcommand.
pub fn run(args: &Args, reporter: &mut Reporter) -> Exit {
    let Some(code) = &args.code else {
        for info in all() {
            let text = format!("{}  {}", info.code, info.title);
            reporter.line(&if reporter.json { json(&info) } else { text });
        }
        return Exit::Ok;
    };
    let number = code.trim_start_matches(['E', 'e']).parse::<u16>().ok();
    match all().iter().find(|info| Some(info.code.0) == number) {
        Some(info) if reporter.json => reporter.line(&json(info)),
        Some(info) => {
            reporter.line(&format!("{}: {}\n\n{}", info.code, info.title, info.explanation))
        }
        None => return reporter.usage(&format!("no error has the code `{code}`")),
    }
    Exit::Ok
}

fn json(info: &CodeInfo) -> String {
    let line = Object::line().str("code", &info.code.to_string()).str("title", info.title);
    line.str("explanation", info.explanation).end()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_unique_and_explained() {
        let all = all();
        assert!(all.windows(2).all(|w| w[0].code < w[1].code));
        assert!(
            all.iter()
                .all(|i| !i.title.is_empty() && i.explanation.ends_with(['.', '?', ')', '`']))
        );
    }

    /// The book's page of error codes, made from the tables.
    fn page() -> String {
        let mut out = String::from(
            "# Error codes\n\n<!-- Made from the tables in the sources by `BLESS=1 cargo test -p deburr`. -->\n\n\
             Every diagnostic carries one of these codes. `deburr explain-error E0304` prints the same text.\n",
        );
        for info in all() {
            out += &format!("\n## {}: {}\n\n{}\n", info.code, info.title, info.explanation);
        }
        out
    }

    #[test]
    fn the_book_has_every_code() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/book/errors.md");
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, page()).unwrap();
        }
        let text = std::fs::read_to_string(path).unwrap_or_default();
        assert!(
            text == page(),
            "docs/book/errors.md is not what the tables say; BLESS=1 writes it"
        );
    }
}
