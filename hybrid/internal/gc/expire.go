package gc

import "time"

// expire takes the former heads out of an inventory's list that are older than they are kept.
func (p *pruner) expire(i *inventory) {
	now := p.s.Reader.Time()
	if p.o.Retention < 0 || now.IsZero() {
		return
	}
	i.listed = nil
	for _, h := range p.histories {
		switch {
		case h.Branch():
		case now.Sub(h.At) > p.o.Retention:
			i.over = append(i.over, h)
			continue
		default:
			p.sum.wait(h.At.Add(p.o.Retention + time.Second))
		}
		i.listed = append(i.listed, h)
	}
}
