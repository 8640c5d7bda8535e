package cosmossql

import (
	"fmt"
	"strconv"
	"strings"
)

// A parser reads the tokens of one query.
type parser struct {
	tokens []token
	params map[string]value
	alias  string // of the document
	depth  int
}

const (
	maxText  = 512 << 10 // bytes of a query
	maxDepth = 256       // of operators and brackets inside of one another
)

// deeper reads something that may hold itself.
func (p *parser) deeper(read func() (expr, error)) (expr, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d (offset %d)", maxDepth, p.peek().offset)
	}
	defer func() { p.depth-- }()
	return read()
}

func (p *parser) peek() token { return p.tokens[0] }

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// accept reads s if it comes next.
func (p *parser) accept(s string) bool {
	ok := p.peek().is(s)
	if ok {
		p.next()
	}
	return ok
}

func (p *parser) expect(s string) error {
	if !p.accept(s) {
		return p.unexpected()
	}
	return nil
}

func (p *parser) unexpected() error {
	t := p.peek()
	if t.kind == end {
		return fmt.Errorf("syntax error at offset %d: unexpected end", t.offset)
	}
	return fmt.Errorf("syntax error at offset %d: incorrect syntax near %q", t.offset, t.text)
}

// reserved are the words that are no names unless a dot or a bracket stands before them.
const reserved = " SELECT TOP DISTINCT VALUE FROM WHERE GROUP BY ORDER OFFSET LIMIT AND OR NOT IN BETWEEN LIKE ESCAPE ASC DESC AS JOIN EXISTS ARRAY TRUE FALSE NULL UNDEFINED UDF "

func isReserved(t token) bool {
	return t.kind == word && strings.Contains(reserved, " "+strings.ToUpper(t.text)+" ")
}

// name reads a word that is not reserved.
func (p *parser) name() (string, error) {
	if t := p.peek(); t.kind != word || isReserved(t) {
		return "", p.unexpected()
	}
	return p.next().text, nil
}

// comma reads items until none is followed by a comma.
func (p *parser) comma(item func() error) error {
	for {
		if err := item(); err != nil {
			return err
		}
		if !p.accept(",") {
			return nil
		}
	}
}

// count reads a whole number, or a parameter that is one.
func (p *parser) count() (int, error) {
	t := p.peek()
	switch t.kind {
	case number:
		if n, err := strconv.Atoi(t.text); err == nil {
			p.next()
			return n, nil
		}
	case param:
		if f, ok := p.params[t.text].(float64); ok && f >= 0 && f == float64(int(f)) {
			p.next()
			return int(f), nil
		}
	}
	return 0, p.unexpected()
}

func (p *parser) literal() (expr, error) {
	t := p.peek()
	switch {
	case t.kind == text:
		p.next()
		return constant{t.text}, nil
	case t.kind == number:
		p.next()
		f, err := strconv.ParseFloat(t.text, 64)
		return constant{f}, err
	}
	for name, v := range map[string]value{"null": nil, "true": true, "false": false, "undefined": undefined{}} {
		if t.is(name) {
			p.next()
			return constant{v}, nil
		}
	}
	if t.kind == word && !isReserved(t) {
		return nil, fmt.Errorf("identifier %q could not be resolved (offset %d)", t.text, t.offset)
	}
	return nil, p.unexpected()
}
