"""What is taken for a place to mutate, and that a mutant reads as it should, alone and beside the original."""

import unittest

import sites


def mutants(line, before="void f() {", after="}"):
    """{(change, the line as the mutant reads)} of one line of a function."""
    text = f"{before}\n  {line}\n{after}\n"
    return {(s.change, sites.mutated_line(text, s)[1]) for s in sites.sites(text) if s.line == 1}


def changes(line, **around):
    return sorted(change for change, _ in mutants(line, **around))


class Sites(unittest.TestCase):
    def test_relations_and_sums_are_swapped_and_conditions_negated(self):
        self.assertEqual(mutants("if (a < b + c) return;"), {
            ("negated condition", "if (!(a < b + c)) return;"), ("< -> <=", "if (a <= b + c) return;"),
            ("+ -> -", "if (a < b - c) return;"), ("removed: return;", "if (a < b + c) ;")})

    def test_constants_grow_and_shrink_but_not_below_zero(self):
        self.assertEqual(changes("const int x = y ? 0 : 4;"), ["0 -> 1", "4 -> 3", "4 -> 5", "negated condition"])

    def test_steps_words_and_compound_assignments_are_turned(self):
        self.assertEqual(changes("++n, on = true, n -= k;"),
                         ["++ -> --", "-= -> +=", "removed: ++n, on = true, n -= k;", "true -> false"])

    def test_a_statement_is_removed_and_a_declaration_is_not(self):
        self.assertEqual(changes("push(a, b);"), ["removed: push(a, b);"])
        self.assertEqual(changes("Queue q(a, b);"), [])
        self.assertEqual(changes("std::vector<int> v{a, b};"), [])
        self.assertEqual(changes("return f(a);"), [])

    def test_templates_references_and_folds_are_no_operators(self):
        self.assertEqual(changes("std::vector<int>& v = get<Foo>();"), [])
        self.assertEqual(changes("auto& x = (digest << ... << words);"), [])

    def test_comments_strings_errors_and_descriptions_are_left_alone(self):
        self.assertEqual(changes('const auto s = name("a < 3");  // x + 1'), [])
        self.assertEqual(changes('throw SimulationError("at " + std::to_string(n + 1));'), [])
        self.assertEqual(changes("out = a + b;", before="std::string X::describe_stall() const {"), [])
        self.assertEqual(changes("static_assert(sizeof(int) == 4);"), [])
        self.assertEqual(changes("constexpr int k = 4;"), [])
        self.assertEqual(changes("tags_.prefetch(set + 1);"), [])

    def test_the_default_of_a_member_is_told_from_a_number_in_a_function(self):
        text = "struct A : B {\n  int n = 3;\n  int f() const { return 4; }\n};\n"
        self.assertEqual({s.change: s.default for s in sites.sites(text)},
                         {"3 -> 2": True, "3 -> 4": True, "4 -> 3": False, "4 -> 5": False})

    def test_mutants_sleep_beside_the_original(self):
        text = "void f() {\n  if (a < b && c) ++n;\n}\n"
        found = {s.change: s for s in sites.sites(text)}
        self.assertEqual(sites.apply(text, [(7, found["&& -> ||"])]).split("\n")[1],
                         "  if ((mutation::on<7>() ? bool(a < b || c) : bool(a < b && c))) ++n;")
        self.assertEqual(sites.apply(text, [(8, found["< -> <="]), (9, found["++ -> --"])]).split("\n")[1],
                         "  if (a < mutation::Between<8, mutation::Op::less, mutation::Op::less_equal>{} < b && c) "
                         "mutation::Step<9, true>{}->*n;")
        self.assertTrue(sites.overlap(found["&& -> ||"], found["< -> <="]))
        self.assertFalse(sites.overlap(found["< -> <="], found["++ -> --"]))


if __name__ == "__main__":
    unittest.main()
