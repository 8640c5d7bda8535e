package segment

// flush puts the document of the rows that wait, and begins anew.
func (c *Cutter) flush(put func(Document) error) error {
	s, marks := c.open, c.marks
	c.begin()
	return c.encode(s, marks, put)
}

// encode puts the document of s, whose lines end at marks. Should it be larger
// than was foreseen, it becomes several.
func (c *Cutter) encode(s Segment, marks []Mark, put func(Document) error) error {
	if len(s.rows) == 0 {
		return nil
	}
	s.To = marks[len(marks)-1].Point()
	s.ID = ID(c.o.SID, s.Stream, s.From, s.To, c.o.Draw())
	for i, m := range marks {
		s.at = append(s.at, m.Hash[:check]...)
		if r := s.rows[i].ref; r != nil && r.As == asDelta && *r.Base < s.From.N && s.base < 0 {
			s.base = *r.Base
		}
	}
	d, err := s.Document()
	if err != nil {
		return err
	}
	if d.fits(c.o.Cap) || len(s.rows) == 1 {
		return put(d)
	}
	half := len(s.rows) / 2
	one, two := s.halves(half, marks[half-1])
	if err := c.encode(one, marks[:half], put); err != nil {
		return err
	}
	return c.encode(two, marks[half:], put)
}

// halves parts a segment at the place m behind its first n rows.
func (s *Segment) halves(n int, m Mark) (one, two Segment) {
	one, two = *s, *s
	one.at, two.at, one.base, two.base = nil, nil, -1, -1
	two.From, two.Offset = m.Point(), m.Bytes
	one.Bytes = m.Bytes - s.Offset
	two.Bytes = s.Bytes - one.Bytes
	one.rows, two.rows = s.rows[:n:n], s.rows[n:]
	if s.blocks != nil {
		one.blocks, two.blocks = s.blocks[:n:n], s.blocks[n:]
	}
	for i := range two.rows {
		if r := two.rows[i].ref; r != nil {
			r.I -= n
		}
	}
	return one, two
}
