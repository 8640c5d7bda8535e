package cosmossql

import (
	"fmt"
	"strings"
)

// expr reads an expression, the loosest operator first.
func (p *parser) expr() (expr, error) {
	return p.deeper(func() (expr, error) {
		return p.chain([]string{"OR"}, map[string]func([]value) value{"OR": or}, func() (expr, error) {
			return p.chain([]string{"AND"}, map[string]func([]value) value{"AND": and}, p.negation)
		})
	})
}

// chain reads operands joined by any of ops, from left to right.
func (p *parser) chain(ops []string, do map[string]func([]value) value, operand func() (expr, error)) (expr, error) {
	left, err := operand()
	for err == nil {
		op := ""
		for _, one := range ops {
			if p.accept(one) {
				op = one
				break
			}
		}
		if op == "" {
			return left, nil
		}
		var right expr
		right, err = operand()
		left = operation{op, []expr{left, right}, do[op]}
	}
	return nil, err
}

func (p *parser) negation() (expr, error) {
	if !p.accept("NOT") {
		return p.comparison()
	}
	e, err := p.deeper(p.negation)
	return operation{"NOT", []expr{e}, not}, err
}

// comparison reads an operand and at most one comparison of it.
func (p *parser) comparison() (expr, error) {
	left, err := p.sum()
	if err != nil {
		return nil, err
	}
	for _, op := range []string{"=", "!=", "<>", "<=", ">=", "<", ">"} {
		if p.accept(op) {
			right, err := p.sum()
			return operation{op, []expr{left, right}, comparisons[op]}, err
		}
	}
	negated := p.peek().is("NOT")
	if negated {
		p.next()
	}
	var e expr
	switch {
	case p.accept("IN"):
		e, err = p.in(left)
	case p.accept("BETWEEN"):
		e, err = p.between(left)
	case p.accept("LIKE"):
		e, err = p.like(left)
	case negated:
		return nil, p.unexpected()
	default:
		return left, nil
	}
	if err == nil && negated {
		e = operation{"NOT", []expr{e}, not}
	}
	return e, err
}

func (p *parser) in(left expr) (expr, error) {
	if err := p.expect("("); err != nil {
		return nil, err
	}
	items, err := p.exprs(")")
	if err == nil && len(items) == 0 {
		err = p.unexpected()
	}
	return operation{"IN", append([]expr{left}, items...), in}, err
}

func (p *parser) between(left expr) (expr, error) {
	low, err := p.sum()
	if err != nil {
		return nil, err
	}
	if err := p.expect("AND"); err != nil {
		return nil, err
	}
	high, err := p.sum()
	return operation{"BETWEEN", []expr{left, low, high}, between}, err
}

func (p *parser) like(left expr) (expr, error) {
	pattern, err := p.sum()
	if err != nil || !p.accept("ESCAPE") {
		return operation{"LIKE", []expr{left, pattern}, like("")}, err
	}
	t := p.next()
	if t.kind != text || len([]rune(t.text)) != 1 {
		return nil, p.unexpected()
	}
	return operation{"LIKE ESCAPE " + t.text, []expr{left, pattern}, like(t.text)}, nil
}

func (p *parser) sum() (expr, error) {
	return p.chain([]string{"+", "-", "||"}, arithmetics, func() (expr, error) {
		return p.chain([]string{"*", "/", "%"}, arithmetics, p.unary)
	})
}

func (p *parser) unary() (expr, error) {
	if !p.accept("-") {
		return p.postfix()
	}
	e, err := p.deeper(p.unary)
	if c, ok := e.(constant); ok && err == nil {
		if f, ok := c.v.(float64); ok {
			return constant{-f}, nil
		}
	}
	return operation{"-", []expr{constant{0.0}, e}, arithmetics["-"]}, err
}

// postfix reads an operand and the members and items taken from it.
func (p *parser) postfix() (expr, error) {
	e, err := p.primary()
	for err == nil {
		switch {
		case p.accept("."):
			t := p.peek()
			if t.kind != word || strings.HasPrefix(t.text, "@") {
				return nil, p.unexpected()
			}
			p.next()
			e = member{e, constant{t.text}}
		case p.accept("["):
			var key expr
			if key, err = p.expr(); err == nil {
				e, err = member{e, key}, p.expect("]")
			}
		default:
			return e, nil
		}
	}
	return nil, err
}

// exprs reads expressions up to the closing sign.
func (p *parser) exprs(closing string) (out []expr, err error) {
	if p.accept(closing) {
		return nil, nil
	}
	err = p.comma(func() error {
		e, err := p.expr()
		out = append(out, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return out, p.expect(closing)
}

// primary reads an operand without what may follow it.
func (p *parser) primary() (expr, error) {
	t := p.peek()
	switch {
	case p.accept("("):
		if p.peek().is("SELECT") {
			return nil, fmt.Errorf("subqueries are not supported (offset %d)", t.offset)
		}
		e, err := p.expr()
		if err != nil {
			return nil, err
		}
		return e, p.expect(")")
	case p.accept("["):
		items, err := p.exprs("]")
		return list{items}, err
	case p.accept("{"):
		return p.object()
	case t.kind == word && p.tokens[1].is("(") && !isReserved(t):
		return p.call()
	case t.kind == word && t.text == p.alias:
		p.next()
		return root{}, nil
	case t.kind == param:
		v, ok := p.params[t.text]
		if !ok {
			return nil, fmt.Errorf("parameter %s has no value", t.text)
		}
		p.next()
		return constant{v}, nil
	}
	return p.literal()
}

func (p *parser) object() (expr, error) {
	var o object
	if p.accept("}") {
		return o, nil
	}
	err := p.comma(func() error {
		t := p.next()
		if t.kind != text && t.kind != word {
			return p.unexpected()
		}
		if err := p.expect(":"); err != nil {
			return err
		}
		e, err := p.expr()
		o.names, o.values = append(o.names, t.text), append(o.values, e)
		return err
	})
	if err != nil {
		return nil, err
	}
	return o, p.expect("}")
}

// call reads a function with its operands.
func (p *parser) call() (expr, error) {
	t := p.next()
	p.next()
	args, err := p.exprs(")")
	if err != nil {
		return nil, err
	}
	name := strings.ToUpper(t.text)
	if do, ok := aggregates[name]; ok && len(args) == 1 {
		if hasAggregate(args[0]) {
			return nil, fmt.Errorf("aggregate inside of an aggregate (offset %d)", t.offset)
		}
		return aggregate{name, args[0], do}, nil
	}
	f, ok := functions[name]
	if !ok {
		return nil, fmt.Errorf("%q is not a recognized function name (offset %d)", t.text, t.offset)
	}
	if len(args) < f.least || len(args) > f.most {
		return nil, fmt.Errorf("%s does not take %d operands (offset %d)", name, len(args), t.offset)
	}
	return operation{name, args, f.do}, nil
}
