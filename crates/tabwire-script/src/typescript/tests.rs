//! Tests of the type stripper: blanks, imports, forms, errors.

use super::*;

fn file(code: &str) -> String {
    prepare(code, Purpose::File).unwrap_or_else(|error| panic!("{code}: {error:?}")).code
}

fn snippet(code: &str) -> Prepared {
    prepare(code, Purpose::Snippet).unwrap_or_else(|error| panic!("{code}: {error:?}"))
}

fn refused(code: &str) -> CodeError {
    prepare(code, Purpose::File).expect_err(code)
}

/// Code without the blanks that stand for types.
fn dense(code: &str) -> String {
    file(code).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn types_become_blanks_and_nothing_moves() {
    let code = "const a: string = 'x';\nfunction f<T>(b?: number, ...c: T[]): void { g<T>(b!); }\n";
    let blank = "const a         = 'x';\nfunction f   (b         , ...c     )       { g   (b ); }\n";
    assert_eq!(file(code), blank);
}

#[test]
fn every_form_of_type_is_removed() {
    for (code, expected) in [
        ("x as unknown as string;", "x ;"),
        ("(x satisfies Y).z;", "(x ).z;"),
        ("f(() => x as Y);", "f(() => x );"),
        ("<any>x;", "x;"),
        ("type A = B;", ";"),
        ("interface A { b: string }", ";"),
        ("export type { A } from 'a';", ";"),
        ("export interface A {}", ";"),
        ("declare const a: string;", ";"),
        ("declare module 'x' { }", ";"),
        ("declare global { var a: string }", ";"),
        ("function f(a: string): void; function f(a) {}", "; function f(a) {}"),
        ("const f = async <T,>(a: T): Promise<T> => a;", "const f = async (a ) => a;"),
        ("function f(this: Window, a: string) {}", "function f( a ) {}"),
        ("try {} catch (error: unknown) {}", "try {} catch (error ) {}"),
        ("let a!: string;", "let a ;"),
        ("abstract class A { abstract b(): void; }", "class A { ; }"),
        (
            "class A<T> extends B<T> implements C, D { private readonly x?: T = 1; static y: string; }",
            "class A extends B { x = 1; static y ; }",
        ),
        (
            "class A { [key: string]: unknown; public async b(): Promise<void> {} }",
            "class A { ; async b() {} }",
        ),
        ("class A { declare a: string; override b() {} }", "class A { ; b() {} }"),
        ("class A { private = 1; readonly() {} }", "class A { private = 1; readonly() {} }"),
    ] {
        assert_eq!(dense(code), expected, "{code}");
    }
}

#[test]
fn imports_of_types_are_dropped() {
    for (code, expected, imports) in [
        ("import type { A } from 'a';", ";", &[][..]),
        ("import { type A, b } from 'a'; b();", "import { b } from 'a'; b();", &["a"]),
        (
            "import { test, Page } from 'a'; test((x: Page) => x);",
            "import { test, } from 'a'; test((x ) => x);",
            &["a"],
        ),
        ("import { Page } from 'a'; const x: Page = 1;", "; const x = 1;", &[]),
        ("import 'a';", "import 'a';", &["a"]),
        ("import a from 'a'; export { a };", "import a from 'a'; export { a };", &["a"]),
    ] {
        let prepared = prepare(code, Purpose::File).expect(code);
        let text = prepared.code.split_whitespace().collect::<Vec<_>>().join(" ");
        assert_eq!(
            (text.as_str(), prepared.imports.as_slice()),
            (expected, &imports.iter().map(|one| (*one).to_owned()).collect::<Vec<_>>()[..]),
            "{code}"
        );
    }
}

#[test]
fn a_line_after_a_removed_type_does_not_continue_the_line_before() {
    assert_eq!(file("let x = y as Z\n(a)"), "let x = y;    \n(a)");
    assert_eq!(file("let x = 1\ntype A = B\n[a]"), "let x = 1\n;         \n[a]");
}

#[test]
fn variables_of_snippets_are_shared() {
    assert_eq!(
        snippet("const a = 1;\nlet b = 2;\nfor (const c of []) {}").code,
        "var   a = 1;\nvar b = 2;\nfor (const c of []) {}"
    );
    assert_eq!(snippet("class A {}\nnew A()").code, "var A=class A {};\nnew A()");
    assert_eq!(snippet("{ const a = 1; }").code, "{ const a = 1; }");
    assert_eq!(file("const a = 1;"), "const a = 1;");
}

#[test]
fn the_form_follows_from_the_code() {
    assert_eq!(snippet("1 + 1").form, Form::Script);
    assert_eq!(snippet("() => { return 1 }").form, Form::Script);
    assert_eq!(snippet("if (a) return 1;").form, Form::Function);
    assert_eq!(snippet("const a = 1; return a").code, "(async()=>{const a = 1; return a\n})()");
    assert_eq!(snippet("import a from 'a'; a()").form, Form::Module);
    assert_eq!(prepare("1", Purpose::File).map(|prepared| prepared.form), Ok(Form::Module));
}

#[test]
fn errors_have_their_place() {
    let error = refused("const a = 1;\n  const = 2;");
    assert_eq!((error.line, error.column), (2, 9), "{error:?}");
    let error = refused("const ä = 'ä'; enum A { B }");
    assert_eq!((error.line, error.column), (1, 16));
    assert!(error.message.contains("`enum`"), "{error:?}");
    for code in [
        "namespace A { x() }",
        "class A { constructor(private a: string) {} }",
        "@a class A {}",
        "export = 1;",
    ] {
        assert!(refused(code).message.len() > 10, "{code}");
    }
}

#[test]
fn strange_input_neither_panics_nor_hangs() {
    for code in [
        "",
        "\0",
        "\u{feff}1",
        "`${",
        "((((((((((",
        "a?.b!.c!",
        "x as",
        "<",
        "class { ",
        "🎉 as any",
        "'\u{2028}'",
    ] {
        let _ = prepare(code, Purpose::Snippet);
    }
}
