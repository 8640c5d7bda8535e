package picker

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/amplifier-go/sessionstorage/examples/sessions/internal/screen"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// Limits of reading a conversation.
const (
	partRows     = 16       // messages that are read at once, at most
	partBytes    = 64 << 10 // of text that answers one request, and a message more
	passageBytes = 256 << 10
	briefBytes   = 300
	lookRows     = 64 // messages of which one is looked for at once
)

// read reads a part of a conversation by ranges, never the rest of the transcript. Of a
// damaged session it reads the messages that can be read. It reads nothing when the
// messages of c.Seen have changed.
func (s store) read(ctx context.Context, c Read) Event {
	e := PartRead{Key: c.Key, Gen: c.Gen, Back: c.Back}
	var rows []sessionstore.Message
	e.Err = s.view(ctx, c.Key, func(v *sessionstore.View) (err error) {
		e.Total = v.Len()
		if at, err := v.Cursor(ctx, c.Seen.n); err != nil || at != c.Seen.at {
			e.Changed = err == nil
			return err
		}
		e.First = min(max(c.From, 1), e.Total+1)
		if c.From == 0 {
			e.First = e.Total + 1
		}
		e.Next = e.First
		from, to := e.First, e.Total
		if c.Back {
			from, to = 1, e.First-1
		}
		rows, err = Part(ctx, v, from, to, partBytes, c.Back)
		if c.Back {
			e.First -= len(rows)
		} else {
			e.Next += len(rows)
		}
		if err != nil {
			return err
		}
		e.Seen.n = max(e.Next-1, c.Seen.n)
		e.Seen.at, err = v.Cursor(ctx, e.Seen.n)
		return err
	})
	var err error
	e.Passages, err = passages(rows, e.First, passageBytes)
	e.Err = errors.Join(e.Err, err)
	return e
}

// Part reads messages of a view: those from one to another, from the first on, or with back
// from the last, until they are about so many bytes. How many it reads at once goes by the
// size of those before.
func Part(ctx context.Context, v *sessionstore.View, from, to, bytes int, back bool) (rows []sessionstore.Message, err error) {
	for n := 1; bytes > 0 && from <= to; {
		n = min(n, to-from+1)
		at := from
		if back {
			at = to - n + 1
		}
		some, err := v.Range(ctx, at, n)
		if err != nil || len(some) == 0 {
			return rows, err
		}
		if back {
			rows, to = append(some, rows...), at-1
		} else {
			rows, from = append(rows, some...), at+len(some)
		}
		size := Weight(some)
		bytes -= size
		n = max(1, min(partRows, len(some)*bytes/size))
	}
	return rows, nil
}

// Weight returns about how many bytes messages are.
func Weight(rows []sessionstore.Message) (bytes int) {
	for _, m := range rows {
		bytes += len(m.Content()) + 100
	}
	return bytes
}

// view calls do with a view of a session.
func (s store) view(ctx context.Context, k Key, do func(v *sessionstore.View) error) error {
	st, err := s.projects.Store(k.Project)
	if err != nil {
		return err
	}
	v, err := st.View(ctx, k.ID)
	if v == nil {
		return err
	}
	return errors.Join(do(v), v.Close())
}

// passages returns messages, of which the first has a number, as the screen shows them,
// with at most so many bytes of each text.
func passages(rows []sessionstore.Message, first, most int) (all []Passage, err error) {
	view, err := conversation.New(rows)
	if err != nil {
		return nil, err
	}
	for i, row := range rows {
		m := view.Messages(i, i+1, conversation.Limits{})[0]
		add := func(role, text, brief string) {
			if text = cleanLines(limited(text, most)); strings.TrimSpace(text) != "" {
				all = append(all, Passage{first + i, clean(role), text, clean(screen.Start(brief, briefBytes))})
			}
		}
		for _, text := range row.Thinking() {
			add("thinking", text, "thinking: "+text)
		}
		switch {
		case m.Text == nil || m.Role == "tool":
		case m.Injected:
			add("reminder", m.Text.Text, "reminder: "+m.Text.Text)
		default:
			add(m.Role, m.Text.Text, "")
		}
		for _, call := range m.Calls {
			whole, brief := "→ "+call.Name+" "+screen.Indented(call.Arguments.Text, passageBytes), "→ "+call.Name+" "+call.Arguments.Text
			if call.Result != nil {
				whole += "\n← " + call.Result.Text.Text
				brief = screen.Start(brief, briefBytes/4) + "  ← " + measured(call.Result.Text.Text)
			}
			add("tool", whole, brief)
		}
		for _, result := range m.Results {
			add("tool", "← "+result.Text.Text, "← "+measured(result.Text.Text))
		}
	}
	return all, nil
}

// limited is the beginning of a text that is too long for the screen, and says so.
func limited(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return fmt.Sprintf("%s\n(%d of %d bytes; sessions show has all of them)", screen.Start(text, most), most, len(text))
}

// measured returns the size of a result, and how it begins.
func measured(text string) string {
	text = strings.TrimSpace(text)
	if text == "" {
		return "nothing"
	}
	begin, _, more := strings.Cut(text, "\n")
	if !more {
		return begin
	}
	return fmt.Sprintf("%d lines: %s", strings.Count(text, "\n")+1, begin)
}

// look looks for the next message that holds a text, in upper or lower case: from the
// message behind c.After to the end, then from the beginning, or the other way. It has a
// view open for a few messages at a time, since one that is open makes an append write
// the whole transcript.
func (s store) look(ctx context.Context, c Look) Event {
	e := Looked{Key: c.Key, Gen: c.Gen, Back: c.Back}
	pattern, err := regexp.Compile("(?i)" + regexp.QuoteMeta(c.Text))
	if err != nil {
		e.Err = err
		return e
	}
	for at, done, total := c.After, 0, 1; done < total && e.Message == 0 && e.Err == nil; {
		e.Err = s.view(ctx, c.Key, func(v *sessionstore.View) (err error) {
			if total = v.Len(); total == 0 {
				return nil
			}
			var from, to int
			if c.Back {
				if at <= 1 || at > total {
					at = total + 1
				}
				from, to = max(1, at-lookRows), at-1
				at = from
			} else {
				if at >= total {
					at = 0
				}
				from, to = at+1, min(total, at+lookRows)
				at = to
			}
			done += to - from + 1
			e.Message, err = lookIn(ctx, v, from, to, c.Back, pattern)
			return err
		})
	}
	return e
}

// lookIn returns the first of some messages, or the last one, that holds a text.
func lookIn(ctx context.Context, v *sessionstore.View, from, to int, last bool, pattern *regexp.Regexp) (found int, err error) {
	rows, err := v.Range(ctx, from, to-from+1)
	if err != nil {
		return 0, err
	}
	for i := range rows {
		some, err := passages(rows[i:i+1], from+i, passageBytes)
		if err != nil {
			return found, err
		}
		if slices.ContainsFunc(some, func(p Passage) bool { return pattern.MatchString(p.Text) }) {
			if found = from + i; !last {
				break
			}
		}
	}
	return found, nil
}

// rename gives a session a name.
func (s store) rename(ctx context.Context, c Rename) Event {
	st, err := s.projects.Store(c.Key.Project)
	if err == nil {
		_, _, err = st.SetName(ctx, c.Key.ID, sessionstore.Naming{Name: c.Name, Source: "manual"})
	}
	return Renamed{c.Key, c.Name, err}
}
