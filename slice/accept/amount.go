package accept

import "github.com/amplifier-go/sessionstorage/internal/format/pyjson"

// placedPicture is a picture or a document of a conversation.
type placedPicture struct {
	sentPicture
	row, n int // it is number n of the pictures of message row
}

// amount is what a conversation has of pictures and of bytes.
type amount struct {
	pictures []placedPicture // those that count
	bytes    int             // of all that is sent
	text     int             // bytes without those of pictures
	last     int             // the first message of the last turn
}

// amountOf adds up the messages.
func (r rules) amountOf(rows []sent) (a amount) {
	for i, s := range rows {
		a.bytes += s.bytes
		a.text += s.bytes
		if s.side == prompt {
			a.last = i
		}
		for n, p := range s.pictures {
			a.text -= p.bytes
			if r.limits.Documents || !p.document {
				a.pictures = append(a.pictures, placedPicture{p, i, n})
			}
		}
	}
	return a
}

// wide returns the pictures that are too large among so many.
func (r rules) wide(a amount) (all []placedPicture) {
	if r.limits.Many == 0 || len(a.pictures) <= r.limits.Many {
		return nil
	}
	for _, p := range a.pictures {
		if over, disputed := r.limits.ManySide.judge(p.side); over && !disputed {
			all = append(all, p)
		}
	}
	return all
}

// tooMuch returns the reasons to refuse a conversation for its pictures and bytes as a whole.
func (r rules) tooMuch(rows []sent) (refused []Refusal) {
	a := r.amountOf(rows)
	for _, p := range r.wide(a) {
		if alone, disputed := r.limits.Side.judge(p.side); !alone || disputed { // else it is refused anyway
			refused = append(refused, Refusal{Reason: WideImage, Row: p.row, Other: -1})
		}
	}
	for _, sum := range []struct {
		limit Limit
		n     int
		why   Reason
	}{
		{r.limits.Number, len(a.pictures), ManyImages},
		{r.limits.Request, a.bytes, LargeRequest},
		{r.limits.Window, a.text, LongConversation},
	} {
		if over, disputed := sum.limit.judge(sum.n); over {
			refused = append(refused, Refusal{Reason: sum.why, Row: -1, Other: -1, Disputed: disputed})
		}
	}
	return refused
}

// lighter returns what is to be done with pictures, by message and number, so that the
// conversation has not too much of one thing; nothing, if it has not. scales: pictures can be
// made smaller. Pictures of the last turn are not taken out.
func (r rules) lighter(rows []sent, scales bool) map[int]map[int]edit {
	a := r.amountOf(rows)
	var old []placedPicture // those that can be taken out
	for _, p := range a.pictures {
		if p.row < a.last && !p.document {
			old = append(old, p)
		}
	}
	edits := map[int]map[int]edit{}
	change := func(list []placedPicture, how edit) {
		for _, p := range list {
			if edits[p.row] == nil {
				edits[p.row] = map[int]edit{}
			}
			edits[p.row][p.n] = how
		}
	}
	wide, surplus := r.wide(a), len(a.pictures)-r.limits.Many
	number, request := r.limits.Number.Certain, r.limits.Request.Certain
	switch {
	case len(wide) > 0 && scales:
		change(wide, edit{WideImage, r.limits.ManySide.Certain})
	case len(wide) > 0 && wide[len(wide)-1].row < a.last && (len(wide) <= surplus || len(old) < surplus):
		change(wide, edit{why: WideImage})
	case len(wide) > 0:
		change(old[:min(surplus, len(old))], edit{why: ManyImages})
	case number > 0 && len(a.pictures) > number:
		change(old[:min(len(a.pictures)-number, len(old))], edit{why: ManyImages})
	case request > 0 && a.bytes > request:
		for i := 0; i < len(old) && a.bytes > request; i++ {
			if a.bytes -= old[i].bytes; old[i].bytes > 0 {
				change(old[i:i+1], edit{why: LargeRequest})
			}
		}
	}
	return edits
}

// mendAmount makes pictures smaller, or takes them out, until the conversation has not too much
// of them.
func (m *fixer) mendAmount() {
	for try := range 5 { // one for each thing that there may be too much of; what was not made smaller is wide still
		edits := m.lighter(m.rows(), m.scale != nil && try == 0)
		if len(edits) == 0 {
			return
		}
		for row := range m.pieces {
			if edits[row] == nil {
				continue
			}
			msg := m.pieces[row].msg
			e := &examiner{rules: m.rules, scale: m.scale, edits: edits[row], role: msg.Role(), line: pyjson.TrimSpace(msg.AppendTo(nil))}
			_, found, line := e.examine()
			for _, f := range found {
				m.pieces[row].addReasons(f.reason)
			}
			m.replace(row, line)
		}
	}
}
