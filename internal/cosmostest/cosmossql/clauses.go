package cosmossql

import (
	"errors"
	"fmt"
)

// selects reads SELECT, TOP and what is selected.
func (q *Query) selects(p *parser) (err error) {
	if err := p.expect("SELECT"); err != nil {
		return err
	}
	if p.peek().is("DISTINCT") {
		return fmt.Errorf("DISTINCT is not supported (offset %d)", p.peek().offset)
	}
	if p.accept("TOP") {
		q.limited = true
		if q.Limit, err = p.count(); err != nil {
			return err
		}
	}
	if p.accept("*") {
		q.star = true
		return nil
	}
	if p.peek().is("VALUE") && !p.tokens[1].is(",") && !p.tokens[1].is("FROM") {
		p.next()
		q.value = true
		e, err := p.expr()
		q.items = []item{{"", e}}
		return err
	}
	return p.comma(func() error { return q.item(p) })
}

// item reads an expression and its name, which is by default the last one of
// its path.
func (q *Query) item(p *parser) (err error) {
	e, err := p.expr()
	if err != nil {
		return err
	}
	one := item{fmt.Sprintf("$%d", len(q.items)+1), e}
	if names, ok := path(e); ok && len(names) > 0 && names[len(names)-1] != "[]" {
		one.name = names[len(names)-1]
	}
	if p.accept("AS") || p.peek().kind == word && !isReserved(p.peek()) {
		if one.name, err = p.name(); err != nil {
			return err
		}
	}
	for _, other := range q.items {
		if other.name == one.name {
			return fmt.Errorf("two items are named %q", one.name)
		}
	}
	q.items = append(q.items, one)
	return nil
}

func (q *Query) from(p *parser) error {
	if err := p.expect("FROM"); err != nil {
		return err
	}
	if _, err := p.name(); err != nil {
		return err
	}
	p.accept("AS")
	if t := p.peek(); t.kind == word && !isReserved(t) {
		p.next()
	}
	switch t := p.peek(); {
	case t.is("JOIN"), t.is("IN"), t.is(","):
		return fmt.Errorf("FROM of more than the container is not supported (offset %d)", t.offset)
	}
	return nil
}

func (q *Query) filters(p *parser) (err error) {
	if !p.accept("WHERE") {
		return nil
	}
	if q.where, err = p.expr(); err == nil && hasAggregate(q.where) {
		err = errors.New("aggregate in WHERE")
	}
	return err
}

func (q *Query) grouping(p *parser) error {
	for _, one := range q.items {
		q.grouped = q.grouped || hasAggregate(one.expr)
	}
	if !p.accept("GROUP") {
		return nil
	}
	q.grouped = true
	if err := p.expect("BY"); err != nil {
		return err
	}
	return p.comma(func() error {
		e, err := p.expr()
		q.groups = append(q.groups, e)
		return err
	})
}

func (q *Query) ordering(p *parser) error {
	if !p.accept("ORDER") {
		return nil
	}
	if err := p.expect("BY"); err != nil {
		return err
	}
	return p.comma(func() error {
		at := p.peek().offset
		e, err := p.expr()
		if err != nil {
			return err
		}
		names, ok := path(e)
		if !ok || len(names) == 0 {
			return fmt.Errorf("ORDER BY of what is no property (offset %d)", at)
		}
		order := Order{Path: names, expr: e, Desc: p.accept("DESC")}
		if !order.Desc {
			p.accept("ASC")
		}
		q.Orders = append(q.Orders, order)
		return nil
	})
}

func (q *Query) limits(p *parser) (err error) {
	if !p.accept("OFFSET") {
		return nil
	}
	if q.limited {
		return errors.New("TOP beside OFFSET")
	}
	q.limited = true
	if q.Offset, err = p.count(); err != nil {
		return err
	}
	if err := p.expect("LIMIT"); err != nil {
		return err
	}
	q.Limit, err = p.count()
	return err
}
