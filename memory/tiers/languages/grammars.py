"""Tree-sitter grammars: which node of a language's tree is what in an outline, and the loading of them.

Node names are those of the grammars' own `node-types.json`. A name that a grammar does not know does no harm.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from functools import cache

from tree_sitter import Language


@dataclass(frozen=True, slots=True)
class Grammar:
    """One language's tree, as far as an outline looks into it."""

    module: str
    """The package of the wheel."""
    types: frozenset[str]
    """Definitions with members of their own: classes, interfaces, structs, modules."""
    routines: frozenset[str]
    """Definitions whose body is not looked into: functions, methods."""
    values: frozenset[str]
    """Constants, variables, aliases: what a module gives besides its definitions."""
    imports: frozenset[str]
    through: frozenset[str] = field(default=frozenset())
    """Nodes that only hold others: bodies of types, export statements, decorated definitions."""
    function: str = "language"
    """What the package calls its grammar."""


# Where a parser recovers from an error, whole definitions stand inside the error.
_ANYWHERE = "ERROR"


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _through(words: str) -> frozenset[str]:
    return _names(words) | {_ANYWHERE}


_JAVASCRIPT_TYPES = _names(
    "class_declaration abstract_class_declaration interface_declaration enum_declaration module internal_module class"
)
_JAVASCRIPT_ROUTINES = _names(
    "function_declaration generator_function_declaration function_signature method_definition method_signature "
    "abstract_method_signature"
)
_JAVASCRIPT_VALUES = _names("lexical_declaration variable_declaration type_alias_declaration export_clause")
_JAVASCRIPT_THROUGH = _through(
    "program export_statement ambient_declaration class_body interface_body enum_body statement_block "
    "expression_statement object_type"
)
_C_TYPES = _names("struct_specifier union_specifier enum_specifier class_specifier namespace_definition")
_C_ROUTINES = _names("function_definition")
_C_VALUES = _names(
    "declaration type_definition preproc_def preproc_function_def alias_declaration using_declaration "
    "concept_definition static_assert_declaration"
)
_C_THROUGH = _through(
    "translation_unit declaration_list field_declaration_list enumerator_list linkage_specification preproc_ifdef "
    "preproc_if preproc_else preproc_elif template_declaration"
)


def _javascript(module: str, function: str = "language") -> Grammar:
    return Grammar(
        module,
        types=_JAVASCRIPT_TYPES,
        routines=_JAVASCRIPT_ROUTINES,
        values=_JAVASCRIPT_VALUES,
        imports=_names("import_statement"),
        through=_JAVASCRIPT_THROUGH,
        function=function,
    )


def _c(module: str) -> Grammar:
    return Grammar(
        module,
        types=_C_TYPES,
        routines=_C_ROUTINES,
        values=_C_VALUES,
        imports=_names("preproc_include"),
        through=_C_THROUGH,
    )


GRAMMARS: dict[str, Grammar] = {
    "python": Grammar(
        "tree_sitter_python",
        types=_names("class_definition"),
        routines=_names("function_definition"),
        values=_names("expression_statement type_alias_statement"),
        imports=_names("import_statement import_from_statement future_import_statement"),
        through=_through("module decorated_definition block if_statement try_statement"),
    ),
    "javascript": _javascript("tree_sitter_javascript"),
    "typescript": _javascript("tree_sitter_typescript", "language_typescript"),
    "tsx": _javascript("tree_sitter_typescript", "language_tsx"),
    "go": Grammar(
        "tree_sitter_go",
        types=_names("type_spec"),
        routines=_names("function_declaration method_declaration"),
        values=_names("const_spec var_spec type_alias package_clause"),
        imports=_names("import_declaration"),
        through=_through(
            "source_file const_declaration var_declaration var_spec_list type_declaration struct_type interface_type "
            "field_declaration_list"
        ),
    ),
    "rust": Grammar(
        "tree_sitter_rust",
        types=_names("struct_item enum_item union_item impl_item trait_item mod_item foreign_mod_item"),
        routines=_names("function_item function_signature_item macro_definition"),
        values=_names("const_item static_item type_item associated_type"),
        imports=_names("use_declaration extern_crate_declaration"),
        through=_through("source_file declaration_list field_declaration_list enum_variant_list"),
    ),
    "java": Grammar(
        "tree_sitter_java",
        types=_names(
            "class_declaration interface_declaration enum_declaration record_declaration annotation_type_declaration"
        ),
        routines=_names(
            "method_declaration constructor_declaration compact_constructor_declaration "
            "annotation_type_element_declaration"
        ),
        values=_names("package_declaration local_variable_declaration constant_declaration"),
        imports=_names("import_declaration"),
        through=_through(
            "program class_body interface_body enum_body enum_body_declarations annotation_type_body record_body"
        ),
    ),
    "c": _c("tree_sitter_c"),
    "cpp": _c("tree_sitter_cpp"),
    "csharp": Grammar(
        "tree_sitter_c_sharp",
        types=_names(
            "class_declaration interface_declaration struct_declaration enum_declaration record_declaration "
            "namespace_declaration file_scoped_namespace_declaration"
        ),
        routines=_names(
            "method_declaration constructor_declaration destructor_declaration operator_declaration "
            "delegate_declaration local_function_statement indexer_declaration conversion_operator_declaration"
        ),
        values=_names("global_statement"),
        imports=_names("using_directive extern_alias_directive"),
        through=_through("compilation_unit declaration_list enum_member_declaration_list preproc_if preproc_else"),
    ),
    "ruby": Grammar(
        "tree_sitter_ruby",
        types=_names("class module singleton_class"),
        routines=_names("method singleton_method"),
        values=_names("assignment call"),
        imports=frozenset(),
        through=_through("program body_statement"),
    ),
    "php": Grammar(
        "tree_sitter_php",
        types=_names("class_declaration interface_declaration trait_declaration enum_declaration namespace_definition"),
        routines=_names("function_definition method_declaration"),
        values=_names("const_declaration expression_statement"),
        imports=_names("namespace_use_declaration"),
        through=_through("program declaration_list enum_declaration_list compound_statement"),
        function="language_php",
    ),
    "bash": Grammar(
        "tree_sitter_bash",
        types=frozenset(),
        routines=_names("function_definition"),
        values=_names("variable_assignment declaration_command"),
        imports=frozenset(),
        through=_through("program if_statement"),
    ),
    "kotlin": Grammar(
        "tree_sitter_kotlin",
        types=_names("class_declaration object_declaration companion_object"),
        routines=_names("function_declaration secondary_constructor"),
        values=_names("property_declaration type_alias package_header"),
        imports=_names("import import_list"),
        through=_through("source_file class_body enum_class_body"),
    ),
    "swift": Grammar(
        "tree_sitter_swift",
        types=_names("class_declaration protocol_declaration"),
        routines=_names(
            "function_declaration init_declaration deinit_declaration protocol_function_declaration "
            "subscript_declaration"
        ),
        values=_names("property_declaration typealias_declaration"),
        imports=_names("import_declaration"),
        through=_through("source_file class_body enum_class_body protocol_body"),
    ),
    "lua": Grammar(
        "tree_sitter_lua",
        types=frozenset(),
        routines=_names("function_declaration"),
        values=_names("variable_declaration assignment_statement return_statement"),
        imports=frozenset(),
        through=_through("chunk"),
    ),
    "scala": Grammar(
        "tree_sitter_scala",
        types=_names("class_definition object_definition trait_definition enum_definition given_definition"),
        routines=_names("function_definition function_declaration"),
        values=_names("val_definition var_definition type_definition package_clause"),
        imports=_names("import_declaration"),
        through=_through("compilation_unit template_body enum_body"),
    ),
}


@cache
def load(name: str) -> tuple[Grammar, Language] | None:
    """The grammar of a language with its table, kept once loaded; None where there is no wheel for it."""
    grammar = GRAMMARS.get(name)
    if grammar is None:
        return None
    try:
        package = importlib.import_module(grammar.module)
        return grammar, Language(getattr(package, grammar.function)())
    except (ImportError, AttributeError, ValueError):
        # A wheel that is missing, or too old or too new for this tree-sitter: the patterns do in its place.
        return None
