package agentstate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/disk/vfs"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
)

// Export returns the persistent state alone as
//
//	{"id", "state": {"history", "approvedCommands", "tokenInfo", "latestRateLimits"},
//	 "metadata": {"created", "lastAccessed", "messageCount"}}
//
// tokenInfo and latestRateLimits are missing when unset. The commands are those of
// [State.ApprovedCommands]. A damaged history is not exported: the error Is [ErrDamaged].
func (s *State) Export(ctx context.Context) (json.RawMessage, error) {
	out, err := s.export(ctx)
	return out, wrapError("export state", err)
}

func (s *State) export(ctx context.Context) (out json.RawMessage, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		o, err := readObject(dir, stateFile)
		if err != nil {
			return err
		}
		items, _, err := readHistory(dir)
		if err != nil {
			return err
		}
		all := pyjson.Splice([]byte("{}"), "id", pyjson.Quote(s.id))
		list, err := s.approvedCommands(o.raw)
		if err != nil {
			return err
		}
		all = pyjson.Splice(all, "state", exportState(o.raw, list, items))
		out = pyjson.Splice(all, "metadata", s.exportMetadata(o.raw, len(items)))
		return nil
	})
	return out, err
}

func exportState(raw []byte, commands []string, items []json.RawMessage) []byte {
	state := pyjson.Splice([]byte("{}"), "history", pyjson.ArrayOf(items))
	state = withCommands(state, commands)
	for _, name := range []string{"tokenInfo", "latestRateLimits"} {
		if v := member(raw, name); v != nil {
			state = pyjson.Splice(state, name, v)
		}
	}
	return state
}

func (s *State) exportMetadata(raw []byte, messages int) []byte {
	now := pyjson.Quote(pytime.Stamp(s.now()))
	metadata := []byte("{}")
	for _, name := range []string{"created", "lastAccessed"} {
		v := member(raw, name)
		if v == nil {
			v = now
		}
		metadata = pyjson.Splice(metadata, name, v)
	}
	return pyjson.Splice(metadata, "messageCount", strconv.AppendInt(nil, int64(messages), 10))
}

// Import fills a state that has no history yet, else the error Is [ErrNotEmpty], with the
// result of Export, from here or from an older tool: the history may also be {"items": […]}
// or a top-level conversationHistory, times numbers of milliseconds or text, and token and
// approval members may be outside of state. The id and members of the runtime are dropped.
// The call approves the commands that data brings, here and for good. Invalid data is
// refused as a whole: the error Is [ErrInvalid].
func (s *State) Import(ctx context.Context, data json.RawMessage) error {
	in, err := readImport(data)
	if err == nil {
		err = s.changing(ctx, func(tx core.Tx) error { return s.fill(ctx, tx, in) })
	}
	return wrapError("import state", err)
}

func (s *State) fill(ctx context.Context, tx core.Tx, in imported) error {
	items, end, err := readHistory(tx.Dir())
	if len(items) > 0 || errors.Is(err, ErrDamaged) {
		return ErrNotEmpty
	}
	if err != nil {
		return err
	}
	err = s.changeObject(ctx, tx, stateFile, func(raw []byte) ([]byte, error) {
		raw, err := s.marked(ctx, pyjson.Remove(withCommands(raw, in.commands), approvals.Marks), in.commands...)
		if err != nil {
			return nil, err
		}
		for _, m := range []struct {
			name  string
			value []byte
		}{{"tokenInfo", in.tokens}, {"latestRateLimits", in.limits}, {"created", in.created}} {
			if m.value != nil {
				raw = pyjson.Splice(raw, m.name, m.value)
			} else {
				raw = pyjson.Remove(raw, m.name)
			}
		}
		return s.touched(raw)
	})
	if err != nil || len(in.lines) == 0 {
		return err
	}
	err = tx.Dir().Replace(historyFile, s.sync, vfs.Now(end.File.Mtime), func(out io.Writer) error {
		_, err := out.Write(in.lines)
		return err
	})
	if err == nil {
		s.renamed(tx, historyFile)
	}
	return err
}

// imported is the checked content of an import.
type imported struct {
	lines    []byte
	commands []string
	tokens   []byte
	limits   []byte
	created  []byte // a text
}

func readImport(data []byte) (in imported, err error) {
	if !isObject(data) {
		return in, fmt.Errorf("%w: not an object", ErrInvalid)
	}
	data = pyjson.Trim(data)
	state := member(data, "state")
	if state != nil && pyjson.KindOf(state) != pyjson.Object {
		return in, fmt.Errorf("%w: state is not an object", ErrInvalid)
	}
	find := func(name string) []byte {
		if v := member(state, name); v != nil {
			return v
		}
		return member(data, name)
	}
	history := find("history")
	if history == nil {
		history = find("conversationHistory")
	}
	if in.lines, err = readItems(history); err != nil {
		return in, err
	}
	if in.commands, err = readCommands(find(approvals.Commands)); err != nil {
		return in, err
	}
	if slices.ContainsFunc(in.commands, isBlank) {
		return in, fmt.Errorf("%w: blank command", ErrInvalid)
	}
	if in.tokens = find("tokenInfo"); in.tokens != nil {
		if err := checkTokens(in.tokens); err != nil {
			return in, err
		}
	}
	if in.limits = find("latestRateLimits"); in.limits != nil && !isObject(in.limits) {
		return in, fmt.Errorf("%w: latestRateLimits is not an object", ErrInvalid)
	}
	created := member(member(data, "metadata"), "created")
	if created == nil {
		created = member(data, "created")
	}
	in.created, err = readTime(created)
	return in, err
}

func readItems(history []byte) ([]byte, error) {
	if pyjson.KindOf(history) == pyjson.Object {
		history = member(history, "items")
	}
	if history != nil && pyjson.KindOf(history) != pyjson.Array {
		return nil, fmt.Errorf("%w: history is not an array", ErrInvalid)
	}
	var items []json.RawMessage
	for v := range pyjson.Elements(history) {
		items = append(items, v)
	}
	return toLines(items)
}

// readTime returns a time, which may be a number of milliseconds, as text.
func readTime(raw []byte) ([]byte, error) {
	switch {
	case raw == nil:
		return nil, nil
	case pyjson.KindOf(raw) == pyjson.String:
		if t, err := time.Parse(time.RFC3339Nano, pyjson.Text(raw)); err == nil {
			return pyjson.Quote(pytime.Stamp(t)), nil
		}
	case pyjson.KindOf(raw) == pyjson.Integer, pyjson.KindOf(raw) == pyjson.Float:
		const year10000 = 253402300800000
		ms, err := strconv.ParseFloat(string(raw), 64)
		if err == nil && math.Abs(ms) < year10000 {
			return pyjson.Quote(pytime.Stamp(time.UnixMilli(int64(ms)))), nil
		}
	}
	return nil, fmt.Errorf("%w: created is not a time", ErrInvalid)
}
