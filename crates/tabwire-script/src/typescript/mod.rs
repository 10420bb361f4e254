//! Prepares code for the engine: blanks out types, finds the place of syntax errors, and keeps variables between runs.
//!
//! Blanks keep every line and column, so errors need no source map.

mod blank;

use std::collections::BTreeSet;

use oxc_allocator::Allocator;
use oxc_ast::ast::{Program, Statement, VariableDeclarationKind};
use oxc_ast_visit::Visit;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::{GetSpan, SourceType};

use self::blank::Blanker;

/// What the code is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// One of several runs that share variables; the last expression is the result.
    Snippet,
    /// A file with variables of its own.
    File,
}

/// How the engine runs the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// In the global scope; the value of the last expression is the result.
    Script,
    /// As the body of an async function, because the code has a `return`.
    Function,
    /// As a module.
    Module,
}

/// Code that the engine can run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prepared {
    /// The code without types.
    pub code: String,
    /// How to run it.
    pub form: Form,
    /// The modules that it imports, by `import()` too where a text names them.
    pub imports: Vec<String>,
}

/// A place in the code where it cannot be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeError {
    /// What is wrong.
    pub message: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
}

/// Put before code that has a `return`. On the same line, so that lines stay.
pub const FUNCTION_START: &str = "(async()=>{";

/// Put after code that has a `return`.
const FUNCTION_END: &str = "\n})()";

/// Brackets within brackets. The parser calls itself for each.
const MOST_NESTED: usize = 500;

/// Prepares code for the engine.
///
/// # Errors
/// With the place of the first syntax error, or of TypeScript that has no JavaScript without its types.
pub fn prepare(code: &str, purpose: Purpose) -> Result<Prepared, CodeError> {
    if let Some(at) = find_deep_nesting(code) {
        return Err(error_at(code, at, format!("Brackets are nested more than {MOST_NESTED} deep.")));
    }
    let allocator = Allocator::default();
    let options = ParseOptions { allow_return_outside_function: true, ..ParseOptions::default() };
    let source_type = SourceType::ts().with_module(true);
    let parsed = Parser::new(&allocator, code, source_type).with_options(options).parse();
    if let Some(error) = parsed.errors.first() {
        let at = error.labels.as_ref().and_then(|labels| labels.first()).map_or(0, |label| label.offset());
        return Err(error_at(code, at, error.message.to_string()));
    }
    let mut blanker = Blanker::new(code);
    blanker.visit_program(&parsed.program);
    if let Some((at, message)) = blanker.refused.take() {
        return Err(error_at(code, at, message.to_owned()));
    }
    blanker.drop_unused_imports(&parsed.program);
    let form = form_of(&parsed.program, purpose, blanker.has_return);
    let mut imports: BTreeSet<String> = imports_of(&parsed.program, &blanker);
    imports.extend(std::mem::take(&mut blanker.dynamic_imports));
    let mut text = blanker.into_bytes();
    if form == Form::Script {
        share_variables(&parsed.program, &mut text);
    }
    // Blanks replace whole characters, so the text stays UTF-8.
    let code = String::from_utf8(text).unwrap_or_default();
    let code = match form {
        Form::Function => format!("{FUNCTION_START}{code}{FUNCTION_END}"),
        Form::Script => declare_classes(&parsed.program, code),
        Form::Module => code,
    };
    Ok(Prepared { code, form, imports: imports.into_iter().collect() })
}

/// Where brackets are nested too deep. Counts those in texts too: no code has that many.
fn find_deep_nesting(code: &str) -> Option<usize> {
    let mut depth = 0_usize;
    code.bytes().position(|byte| {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > MOST_NESTED
    })
}

fn form_of(program: &Program<'_>, purpose: Purpose, has_return: bool) -> Form {
    let is_module = |statement: &Statement<'_>| statement.is_module_declaration();
    if purpose == Purpose::File || program.body.iter().any(is_module) {
        Form::Module
    } else if has_return {
        Form::Function
    } else {
        Form::Script
    }
}

/// The modules that are still imported without types.
fn imports_of(program: &Program<'_>, blanker: &Blanker<'_>) -> BTreeSet<String> {
    let sources = program.body.iter().filter_map(|statement| match statement {
        Statement::ImportDeclaration(import) => Some((import.span, &import.source)),
        Statement::ExportNamedDeclaration(export) => Some((export.span, export.source.as_ref()?)),
        Statement::ExportAllDeclaration(export) => Some((export.span, &export.source)),
        _ => None,
    });
    let kept = sources.filter(|(span, _)| !blanker.is_removed(*span));
    kept.map(|(_, source)| source.value.to_string()).collect()
}

/// Turns `const` and `let` of the outermost level into `var`, so that later runs see the variables and may declare them
/// again.
fn share_variables(program: &Program<'_>, text: &mut [u8]) {
    for statement in &program.body {
        let Statement::VariableDeclaration(declaration) = statement else { continue };
        let keyword: &[u8] = match declaration.kind {
            VariableDeclarationKind::Const => b"var  ",
            VariableDeclarationKind::Let => b"var",
            _ => continue,
        };
        let start = declaration.span.start as usize;
        if let Some(place) =
            text.get_mut(start..start + keyword.len()).filter(|place| !place.starts_with(b" "))
        {
            place.copy_from_slice(keyword);
        }
    }
}

/// Turns `class A` of the outermost level into `var A=class A`, so that later runs may declare it again.
fn declare_classes(program: &Program<'_>, mut code: String) -> String {
    for statement in program.body.iter().rev() {
        let Statement::ClassDeclaration(class) = statement else { continue };
        let (Some(id), start) = (&class.id, class.span.start as usize) else { continue };
        let is_kept = code.get(start..).is_some_and(|rest| rest.trim_start().starts_with("class"));
        if is_kept {
            code.insert(class.span().end as usize, ';');
            code.insert_str(start, &format!("var {}=", id.name));
        }
    }
    code
}

fn error_at(code: &str, at: usize, message: String) -> CodeError {
    let at = code.floor_char_boundary(at.min(code.len()));
    let before = &code[..at];
    let line_start = before.rfind('\n').map_or(0, |end| end + 1);
    let line = before.matches('\n').count() + 1;
    CodeError { message, line, column: before[line_start..].chars().count() + 1 }
}

#[cfg(test)]
mod tests;
