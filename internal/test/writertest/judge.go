package writertest

import (
	"fmt"
	"slices"
	"time"
)

// Figures are the results of a history, or of several.
type Figures struct {
	Rows   int // acknowledged by either side
	Apart  int // of these, without a save of the other side at that time
	Lost   int // rows that are gone without excuse
	Gone   int // rows that are gone because the other side saved at that time
	Usurp  int // saves whose row the transcript lacked at once, though they were the last to rename
	Reads  int
	Empty  int // reads that met no row at all
	Absent int // reads that met no transcript
	Torn   int // reads that met a transcript that is not JSON
	Short  int // reads that lacked a row without excuse
	Failed int // reads that ended in an error
	// Findings describe the breaches of the contract, one line each.
	Findings []string
}

// Add adds the figures of another history.
func (f *Figures) Add(o Figures) {
	f.Rows += o.Rows
	f.Apart += o.Apart
	f.Lost += o.Lost
	f.Gone += o.Gone
	f.Usurp += o.Usurp
	f.Reads += o.Reads
	f.Empty += o.Empty
	f.Absent += o.Absent
	f.Torn += o.Torn
	f.Short += o.Short
	f.Failed += o.Failed
	f.Findings = append(f.Findings, o.Findings...)
}

// Broken returns how often the contract was broken.
func (f *Figures) Broken() int {
	return f.Lost + f.Usurp + f.Empty + f.Absent + f.Torn + f.Short + f.Failed
}

// ApartShare returns the share of the rows that were acknowledged while the other side did
// not save.
func (f *Figures) ApartShare() float64 { return share(f.Apart, f.Rows) }

// GoneShare returns the share of the rows that are gone with an excuse, among the rows
// whose call overlapped one of the other side.
func (f *Figures) GoneShare() float64 { return share(f.Gone, f.Rows-f.Apart) }

func share(part, all int) float64 { return float64(part) / float64(max(all, 1)) }

// String returns the figures on one line.
func (f *Figures) String() string {
	return fmt.Sprintf("%d rows acknowledged, %.0f %% with nobody saving; %d lost without excuse, %d last saves without their row, "+
		"%d gone with an excuse (%.0f %% of those that overlapped); %d reads met %d empty, %d missing, %d torn, %d shorter, %d errors",
		f.Rows, 100*f.ApartShare(), f.Lost, f.Usurp, f.Gone, 100*f.GoneShare(), f.Reads, f.Empty, f.Absent, f.Torn, f.Short, f.Failed)
}

// Judge returns the figures of a history, once all writers and readers have ended.
func (h *History) Judge() Figures {
	h.mu.Lock()
	defer h.mu.Unlock()
	j := judgement{h: h, apart: map[*Call]bool{}, gone: map[*Call]bool{}}
	for _, c := range h.calls {
		if c.End.IsZero() || c.void {
			continue
		}
		j.f.Rows++
		if !slices.ContainsFunc(h.calls, func(o *Call) bool { return !o.void && o.Side != c.Side && overlap(c, o) }) {
			j.apart[c] = true
			j.f.Apart++
		}
	}
	for i := range h.looks {
		j.look(i)
	}
	for _, r := range h.reads {
		j.read(r)
	}
	return j.f
}

// judgement is the state of one Judge.
type judgement struct {
	h     *History
	f     Figures
	apart map[*Call]bool // calls that no call of the other side overlapped
	gone  map[*Call]bool // calls whose row was found to be gone
}

// look judges the look number i.
func (j *judgement) look(i int) {
	l := j.h.looks[i]
	if !l.main[j.h.First] && !l.other[j.h.First] {
		j.find(&j.f.Lost, "%s: the first row is gone", l.name())
	}
	for _, c := range j.h.calls {
		if c.void || c.End.IsZero() || !c.End.Before(l.at) || l.main[c.Row] || l.other[c.Row] || j.gone[c] {
			continue
		}
		j.gone[c] = true
		switch {
		case j.apart[c]:
			j.find(&j.f.Lost, "%s: %s of %s is gone, which nobody's save overlapped", l.name(), c.Row, c.Kind)
		case j.safe(c, i):
			j.find(&j.f.Lost, "%s: %s of %s is gone, which was acknowledged before this save began", l.name(), c.Row, c.Kind)
		default:
			j.f.Gone++
		}
	}
	if l.save != nil && !l.main[l.save.Row] && !slices.ContainsFunc(j.beside(l), func(c *Call) bool { return l.main[c.Row] }) {
		j.find(&j.f.Usurp, "%s: the transcript lacks its row", l.name())
	}
}

// safe reports whether contract 2 keeps the row of c at look i: c began after the look
// before and was acknowledged before the save of look i began, and no call wrote between
// the rename of that save and the look.
func (j *judgement) safe(c *Call, i int) bool {
	l := j.h.looks[i]
	if l.save == nil || !c.End.Before(l.save.Save) || i > 0 && !c.Begin.After(j.h.looks[i-1].at) {
		return false
	}
	return len(j.beside(l)) == 0
}

// beside returns the calls of Ours that were under way between the rename of a save and the
// look after it.
func (j *judgement) beside(l look) (calls []*Call) {
	for _, c := range j.h.calls {
		if c.Side == Ours && !c.void && c.Begin.Before(l.at) && (c.End.IsZero() || c.End.After(l.save.Rename)) {
			calls = append(calls, c)
		}
	}
	return calls
}

// read judges the result of a reader.
func (j *judgement) read(r Read) {
	j.f.Reads++
	switch {
	case r.Err != nil:
		j.find(&j.f.Failed, "%s: %v", r.Reader, r.Err)
		return
	case r.Main == Missing:
		j.find(&j.f.Absent, "%s met no transcript", r.Reader)
	case r.Main == Torn:
		j.find(&j.f.Torn, "%s met a torn transcript", r.Reader)
	}
	if len(r.Rows) == 0 {
		j.find(&j.f.Empty, "%s met no rows", r.Reader)
		return
	}
	if row, ok := j.lacks(r); ok {
		j.find(&j.f.Short, "%s met %d rows without %s", r.Reader, len(r.Rows), row)
	}
}

// lacks returns a row that r should have met: a row that was acknowledged before r began,
// and apart; unless a void attempt that overlapped its call was under way while r read.
func (j *judgement) lacks(r Read) (row string, ok bool) {
	met := make(map[string]bool, len(r.Rows))
	for _, row := range r.Rows {
		met[row] = true
	}
	if !met[j.h.First] {
		return j.h.First, true
	}
	for _, c := range j.h.calls {
		if j.apart[c] && c.End.Before(r.Begin) && !met[c.Row] && !j.attempted(c, r) {
			return c.Row, true
		}
	}
	return "", false
}

// attempted reports whether a void attempt of the other side overlapped both c
// and r.
func (j *judgement) attempted(c *Call, r Read) bool {
	return slices.ContainsFunc(j.h.calls, func(o *Call) bool {
		return o.void && o.Side != c.Side && overlap(c, o) && o.End.After(r.Begin) && o.Begin.Before(r.End)
	})
}

func (j *judgement) find(count *int, format string, args ...any) {
	*count++
	j.f.Findings = append(j.f.Findings, fmt.Sprintf(format, args...))
}

func (l look) name() string {
	if l.save == nil {
		return "at the end"
	}
	return "after " + l.save.Row
}

// overlap reports whether two calls were under way at one time.
func overlap(a, b *Call) bool {
	never := time.Time{}
	return (b.End == never || a.Begin.Before(b.End)) && (a.End == never || b.Begin.Before(a.End))
}
