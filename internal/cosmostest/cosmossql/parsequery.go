package cosmossql

import (
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/cosmostest/jsondoc"
)

// Parse reads a query. Its errors tell the offset, never more of the query
// than a word.
func Parse(query string, list []Param) (*Query, error) {
	if len(query) > maxText {
		return nil, fmt.Errorf("query of more than %d bytes", maxText)
	}
	values, err := params(list)
	if err != nil {
		return nil, err
	}
	tokens, err := lex(query)
	if err != nil {
		return nil, err
	}
	p := &parser{tokens: tokens, params: values}
	if p.alias, err = findAlias(tokens); err != nil {
		return nil, err
	}
	q := &Query{Limit: -1}
	for _, clause := range []func(*parser) error{q.selects, q.from, q.filters, q.grouping, q.ordering, q.limits} {
		if err := clause(p); err != nil {
			return nil, err
		}
	}
	if p.peek().kind != end {
		return nil, p.unexpected()
	}
	if err := q.check(); err != nil {
		return nil, err
	}
	return q, nil
}

// ParseCondition reads the condition of a patch: FROM, an alias and WHERE.
func ParseCondition(condition string) (*Query, error) {
	return Parse("SELECT * "+condition, nil)
}

// findAlias looks ahead for what FROM calls the document.
func findAlias(tokens []token) (string, error) {
	for i, t := range tokens {
		if !t.is("FROM") {
			continue
		}
		name, rest := tokens[i+1], tokens[i+2:]
		if name.kind != word || isReserved(name) {
			break
		}
		if rest[0].is("AS") {
			rest = rest[1:]
		}
		if rest[0].kind == word && !isReserved(rest[0]) {
			name = rest[0]
		}
		return name.text, nil
	}
	return "", errors.New("syntax error: no FROM with a name")
}

// check refuses what is well written and means nothing.
func (q *Query) check() error {
	if !q.grouped {
		return nil
	}
	if q.star || len(q.Orders) > 0 {
		return errors.New("GROUP BY and aggregates go neither with * nor with ORDER BY")
	}
	known := map[string]bool{}
	for _, g := range q.groups {
		known[g.String()] = true
	}
	for _, one := range q.items {
		if !grouped(one.expr, known) {
			return fmt.Errorf("item %q is neither grouped nor aggregated", one.name)
		}
	}
	return nil
}

// grouped reports whether e is made of aggregates, constants and known ones.
func grouped(e expr, known map[string]bool) bool {
	switch e.(type) {
	case aggregate, constant:
		return true
	case root:
		return known[e.String()]
	}
	if known[e.String()] {
		return true
	}
	for _, c := range e.children() {
		if !grouped(c, known) {
			return false
		}
	}
	return true
}

// params reads the values of parameters, which are JSON.
func params(list []Param) (map[string]value, error) {
	out := map[string]value{}
	for _, one := range list {
		v, err := jsondoc.Parse(one.Value)
		if err != nil {
			return nil, fmt.Errorf("parameter %s: %w", one.Name, err)
		}
		if _, twice := out[one.Name]; twice {
			return nil, fmt.Errorf("parameter %s is given twice", one.Name)
		}
		out[one.Name] = v
	}
	return out, nil
}
