//! Replaces the types in a program by blanks.

use std::collections::HashSet;

use oxc_ast::ast::*;
use oxc_ast_visit::{Visit, walk};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::ScopeFlags;

/// Words that may stand before a member of a class and have no meaning without types.
const MODIFIERS: [&str; 7] =
    ["public", "private", "protected", "readonly", "override", "abstract", "declare"];

/// Walks a program and blanks out its types.
pub(super) struct Blanker<'s> {
    source: &'s str,
    text: Vec<u8>,
    /// The first construct that has no JavaScript without its types.
    pub(super) refused: Option<(usize, &'static str)>,
    /// Whether a `return` stands outside of functions.
    pub(super) has_return: bool,
    /// What `import()` names with a text.
    pub(super) dynamic_imports: Vec<String>,
    /// Statements that were blanked out.
    removed: Vec<Span>,
    /// Names that are used as values.
    used: HashSet<String>,
    /// Where bodies of functions start that are an expression.
    bodies: HashSet<u32>,
    function_depth: usize,
}

impl<'s> Blanker<'s> {
    pub(super) fn new(source: &'s str) -> Self {
        Self {
            source,
            text: source.as_bytes().to_vec(),
            refused: None,
            has_return: false,
            dynamic_imports: Vec::new(),
            removed: Vec::new(),
            used: HashSet::new(),
            bodies: HashSet::new(),
            function_depth: 0,
        }
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    pub(super) fn is_removed(&self, span: Span) -> bool {
        self.removed.contains(&span)
    }

    fn blank(&mut self, start: u32, end: u32) {
        for byte in &mut self.text[start as usize..end as usize] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }

    fn blank_span(&mut self, span: Span) {
        self.blank(span.start, span.end);
    }

    /// Blanks out a statement. The semicolon keeps the next line from continuing the line before.
    fn remove(&mut self, span: Span) {
        self.blank_span(span);
        if let Some(first) = self.text.get_mut(span.start as usize) {
            *first = b';';
        }
        self.removed.push(span);
    }

    fn refuse(&mut self, span: Span, message: &'static str) {
        self.refused.get_or_insert((span.start as usize, message));
    }

    /// Blanks out the mark (`?` or `!`) between a name and its type.
    fn blank_mark(&mut self, from: u32, marks: &[u8]) {
        let rest = &self.source.as_bytes()[from as usize..];
        let at = rest.iter().position(|byte| !byte.is_ascii_whitespace());
        if let Some(at) = at.filter(|at| marks.contains(&rest[*at])) {
            self.text[from as usize + at] = b' ';
        }
    }

    /// Blanks out the words between the start of a class member and its name that types need.
    fn blank_modifiers(&mut self, start: u32, key: u32) {
        let (start, key) = (start as usize, key as usize);
        let head = &self.source[start..key];
        let mut at = 0;
        for word in head.split(|letter: char| !letter.is_ascii_alphabetic()) {
            if MODIFIERS.contains(&word) {
                self.text[start + at..start + at + word.len()].fill(b' ');
            }
            at += word.len() + 1;
        }
    }

    /// Blanks out an element of a list with the comma after it, else with the comma before it.
    fn blank_list_element(&mut self, span: Span) {
        self.blank_span(span);
        let after = &self.text[span.end as usize..];
        let next = after.iter().position(|byte| !byte.is_ascii_whitespace());
        if let Some(next) = next.filter(|next| after[*next] == b',') {
            self.text[span.end as usize + next] = b' ';
        }
    }

    /// Blanks out imports of names that are only used as types, as TypeScript does.
    pub(super) fn drop_unused_imports(&mut self, program: &Program<'_>) {
        for statement in &program.body {
            let Statement::ImportDeclaration(import) = statement else { continue };
            let Some(specifiers) = import.specifiers.as_ref().filter(|_| !self.is_removed(import.span))
            else {
                continue;
            };
            let is_used =
                |one: &ImportDeclarationSpecifier<'_>| self.used.contains(one.local().name.as_str());
            if !specifiers.is_empty() && !specifiers.iter().any(is_used) {
                self.remove(import.span);
                continue;
            }
            let unused: Vec<Span> = specifiers
                .iter()
                .filter(|one| matches!(one, ImportDeclarationSpecifier::ImportSpecifier(_)) && !is_used(one))
                .map(GetSpan::span)
                .collect();
            for span in unused {
                self.blank_list_element(span);
            }
        }
    }
}

impl<'a> Visit<'a> for Blanker<'_> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.used.insert(it.name.to_string());
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind.is_type() {
            self.blank_list_element(it.span);
        } else {
            self.used.insert(it.local.name().to_string());
        }
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        walk::walk_statement(self, it);
        // A blank end of a statement without a semicolon could continue on the next line.
        let span = it.span();
        let (start, end) = (span.start as usize, span.end as usize);
        let is_simple = matches!(
            it,
            Statement::ExpressionStatement(_)
                | Statement::VariableDeclaration(_)
                | Statement::ReturnStatement(_)
                | Statement::ThrowStatement(_)
        );
        if is_simple
            && !self.bodies.contains(&span.start)
            && end > start
            && self.text[end - 1] == b' '
            && self.source.as_bytes()[end - 1] != b';'
        {
            let kept = self.text[start..end].iter().rposition(|byte| !byte.is_ascii_whitespace());
            if let Some(place) = kept.map(|kept| start + kept + 1).filter(|place| self.text[*place] == b' ') {
                self.text[place] = b';';
            }
        }
    }

    fn visit_return_statement(&mut self, it: &ReturnStatement<'a>) {
        self.has_return |= self.function_depth == 0;
        walk::walk_return_statement(self, it);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        self.function_depth += 1;
        if it.expression {
            // The parser has the expression as a statement, which ends with the function and takes no semicolon.
            self.bodies.extend(it.body.statements.iter().map(|body| body.span().start));
        }
        walk::walk_arrow_function_expression(self, it);
        self.function_depth -= 1;
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.function_depth += 1;
        walk::walk_static_block(self, it);
        self.function_depth -= 1;
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        if it.declare || (it.body.is_none() && it.r#type == FunctionType::TSDeclareFunction) {
            return self.remove(it.span);
        }
        if let Some(this) = &it.this_param {
            self.blank_list_element(this.span);
        }
        self.function_depth += 1;
        walk::walk_function(self, it, flags);
        self.function_depth -= 1;
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        match &it.source {
            Expression::StringLiteral(text) => self.dynamic_imports.push(text.value.to_string()),
            Expression::TemplateLiteral(template) => {
                let text = template.single_quasi().map(|text| text.to_string());
                self.dynamic_imports.extend(text);
            }
            _ => {}
        }
        walk::walk_import_expression(self, it);
    }

    fn visit_ts_this_parameter(&mut self, _: &TSThisParameter<'a>) {}

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        if it.accessibility.is_some() || it.readonly || it.r#override {
            let message =
                "Parameter properties need code; declare the property and assign it in the constructor.";
            return self.refuse(it.span, message);
        }
        if it.optional {
            self.blank_mark(it.pattern.span().end, b"?");
        }
        walk::walk_formal_parameter(self, it);
    }

    fn visit_variable_declaration(&mut self, it: &VariableDeclaration<'a>) {
        if it.declare {
            return self.remove(it.span);
        }
        walk::walk_variable_declaration(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end, b"!");
        }
        walk::walk_variable_declarator(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        if it.declare {
            return self.remove(it.span);
        }
        if let Some(decorator) = it.decorators.first() {
            return self.refuse(decorator.span, "Decorators are not supported.");
        }
        if it.r#abstract {
            let key = it.id.as_ref().map_or(it.body.span.start, |id| id.span.start);
            self.blank_modifiers(it.span.start, key);
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let before = &self.source[..first.span.start as usize];
            let keyword = before.rfind("implements").unwrap_or(before.len());
            self.blank(u32::try_from(keyword).unwrap_or(first.span.start), last.span.end);
        }
        walk::walk_class(self, it);
    }

    fn visit_ts_class_implements(&mut self, _: &TSClassImplements<'a>) {}

    fn visit_class_element(&mut self, it: &ClassElement<'a>) {
        let is_type = match it {
            ClassElement::TSIndexSignature(_) => true,
            ClassElement::MethodDefinition(method) => method.value.body.is_none(),
            ClassElement::PropertyDefinition(property) => {
                property.declare || property.r#type == PropertyDefinitionType::TSAbstractPropertyDefinition
            }
            _ => false,
        };
        if is_type {
            return self.remove(it.span());
        }
        walk::walk_class_element(self, it);
    }

    fn visit_method_definition(&mut self, it: &MethodDefinition<'a>) {
        self.blank_modifiers(it.span.start, it.key.span().start);
        if it.optional {
            self.blank_mark(it.key.span().end, b"?");
        }
        walk::walk_method_definition(self, it);
    }

    fn visit_property_definition(&mut self, it: &PropertyDefinition<'a>) {
        self.blank_modifiers(it.span.start, it.key.span().start);
        if it.optional || it.definite {
            let end = it.key.span().end + u32::from(it.computed);
            self.blank_mark(end, b"?!");
        }
        walk::walk_property_definition(self, it);
    }

    fn visit_ts_type_annotation(&mut self, it: &TSTypeAnnotation<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_type_parameter_declaration(&mut self, it: &TSTypeParameterDeclaration<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_type_parameter_instantiation(&mut self, it: &TSTypeParameterInstantiation<'a>) {
        self.blank_span(it.span);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.expression.span().end, it.span.end);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.expression.span().end, it.span.end);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.visit_expression(&it.expression);
        self.blank(it.expression.span().end, it.span.end);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        self.blank(it.span.start, it.expression.span().start);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_type_alias_declaration(&mut self, it: &TSTypeAliasDeclaration<'a>) {
        self.remove(it.span);
    }

    fn visit_ts_interface_declaration(&mut self, it: &TSInterfaceDeclaration<'a>) {
        self.remove(it.span);
    }

    fn visit_ts_global_declaration(&mut self, it: &TSGlobalDeclaration<'a>) {
        self.remove(it.span);
    }

    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        if it.declare {
            return self.remove(it.span);
        }
        self.refuse(it.span, "`enum` needs code; use an object such as `const A = { B: 'b' } as const`.");
    }

    fn visit_ts_module_declaration(&mut self, it: &TSModuleDeclaration<'a>) {
        if it.declare {
            return self.remove(it.span);
        }
        self.refuse(it.span, "`namespace` needs code; use a module or an object.");
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        self.refuse(it.span, "`import x = ...` needs code; use `import x from ...`.");
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.refuse(it.span, "`export =` needs code; use `export default`.");
    }

    fn visit_ts_namespace_export_declaration(&mut self, it: &TSNamespaceExportDeclaration<'a>) {
        self.remove(it.span);
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.refuse(it.span, "Decorators are not supported.");
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        if it.import_kind.is_type() {
            return self.remove(it.span);
        }
        for specifier in it.specifiers.iter().flatten() {
            if let ImportDeclarationSpecifier::ImportSpecifier(one) = specifier
                && one.import_kind.is_type()
            {
                self.blank_list_element(one.span);
            }
        }
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        let is_type_declaration = it.declaration.as_ref().is_some_and(|declaration| {
            declaration.declare()
                || matches!(
                    declaration,
                    Declaration::TSTypeAliasDeclaration(_) | Declaration::TSInterfaceDeclaration(_)
                )
                || matches!(declaration, Declaration::FunctionDeclaration(function) if function.body.is_none())
        });
        if it.export_kind.is_type() || is_type_declaration {
            return self.remove(it.span);
        }
        walk::walk_export_named_declaration(self, it);
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        if it.export_kind.is_type() {
            self.remove(it.span);
        }
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        if matches!(it.declaration, ExportDefaultDeclarationKind::TSInterfaceDeclaration(_)) {
            return self.remove(it.span);
        }
        walk::walk_export_default_declaration(self, it);
    }
}
