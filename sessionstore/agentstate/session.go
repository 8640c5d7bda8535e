package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// A Session joins the state that an agent keeps and the state that it forgets. Resuming is
// a new Session over the stored state: its Runtime is fresh.
type Session struct {
	State   *State
	Runtime *Runtime
}

// NewSession returns a session over a stored state. [Session.Close] closes it.
func NewSession(s *State) *Session { return &Session{s, &Runtime{}} }

// AddItems appends items to the history.
func (s *Session) AddItems(ctx context.Context, items ...json.RawMessage) error {
	return s.State.RecordItems(ctx, items...)
}

// StartTurn begins a turn. While there is one, also a suspended one, the error
// Is [ErrTransition].
func (s *Session) StartTurn() error {
	if s.Runtime.State() == Waiting {
		return wrapError("start turn", ErrTransition)
	}
	return wrapError("start turn", s.Runtime.To(Processing, s.State.now()))
}

// EndTurn ends the current turn.
func (s *Session) EndTurn() error {
	return wrapError("end turn", s.Runtime.To(Idle, s.State.now()))
}

// AddTokenUsage adds tokens to the stored total and to the current turn.
func (s *Session) AddTokenUsage(ctx context.Context, tokens int64) error {
	if err := s.State.AddTokenUsage(ctx, tokens); err != nil {
		return err
	}
	s.Runtime.AddTokens(tokens)
	return nil
}

// RequestApproval makes a call wait for the user under an id.
func (s *Session) RequestApproval(id string, call json.RawMessage) error {
	return wrapError("request approval", s.Runtime.Request(Approval{ID: id, Call: call, Requested: s.State.now()}))
}

// Resolve takes the user's verdict, [Approved] or [Rejected], and removes the pending
// approval. An approval that was kept ([State.KeepPending]) is decided as
// [State.Decide] says, also after a restart, when no call waits in this Runtime; then
// Requested is zero in the result. An error other than one of the disk means that
// nothing was stored. When the stored approval refuses the verdict, because another
// process decided or ran the call, the call waits here no longer.
func (s *Session) Resolve(ctx context.Context, id string, v Verdict) (Approval, error) {
	if v != Approved && v != Rejected {
		return Approval{}, fmt.Errorf("resolve approval: %w: verdict is neither approved nor rejected", ErrInvalid)
	}
	list, err := s.State.kept(ctx)
	if err != nil {
		return Approval{}, wrapError("resolve approval", err)
	}
	kept := findApproval(list, id)
	if kept == nil {
		p, err := s.Runtime.Resolve(id)
		return p, wrapError("resolve approval", err)
	}
	err = s.State.Decide(ctx, id, v)
	if err != nil && !errors.Is(err, ErrNotPending) && !errors.Is(err, ErrRan) {
		return Approval{}, err
	}
	p, gone := s.Runtime.Resolve(id)
	switch {
	case err != nil:
		return Approval{}, err
	case gone != nil:
		return Approval{ID: id, Call: kept.Call}, nil
	}
	return p, nil
}

// Interrupt asks the agent to stop, and ends the current turn.
func (s *Session) Interrupt() { s.Runtime.Interrupt(s.State.now()) }

// Close ends the current turn, forgets the runtime and closes the state.
func (s *Session) Close() error {
	s.Runtime.reset()
	return s.State.Close()
}

// Export is [State.Export]; nothing of the runtime is in it.
func (s *Session) Export(ctx context.Context) (json.RawMessage, error) { return s.State.Export(ctx) }

// RecordItems appends items to the history. Each item is a JSON object of any kind: it says
// what it is by the member type, or by role. When one is refused, none is appended, and the
// error Is [ErrInvalid] and names the item. Line breaks between the members of an item
// become spaces; otherwise items stay as they are.
func (s *State) RecordItems(ctx context.Context, items ...json.RawMessage) error {
	lines, err := toLines(items)
	if err == nil && len(lines) > 0 {
		err = s.changing(ctx, func(tx core.Tx) error {
			err := s.changeObject(ctx, tx, stateFile, s.touched)
			if err != nil {
				return err
			}
			return s.appendLines(tx, lines)
		})
	}
	return wrapError("record items", err)
}

func toLines(items []json.RawMessage) (lines []byte, err error) {
	for i, item := range items {
		if !isObject(item) {
			return nil, fmt.Errorf("item %d: %w: not an object", i, ErrInvalid)
		}
		if !saysWhat(pyjson.Trim(item)) {
			return nil, fmt.Errorf("item %d: %w: an object with neither a type nor a role", i, ErrInvalid)
		}
		line := bytes.Map(func(r rune) rune { // inside of strings these are escaped
			if r == '\n' || r == '\r' {
				return ' '
			}
			return r
		}, pyjson.Trim(item))
		lines = append(append(lines, line...), '\n')
	}
	return lines, nil
}

// saysWhat reports whether an item has a type or a role, which is a string and not empty.
func saysWhat(item []byte) bool {
	return pyjson.Text(member(item, "type")) != "" || pyjson.Text(member(item, "role")) != ""
}

// History returns a copy of the items. When lines are damaged, it returns the
// others and an error that Is [ErrDamaged].
func (s *State) History(ctx context.Context) (items []json.RawMessage, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		items, _, err = readHistory(dir)
		return err
	})
	return items, wrapError("read history", err)
}

// appendLines appends whole lines to the history. A line that a killed writer left
// incomplete is completed if it is an item, else cut off.
func (s *State) appendLines(tx core.Tx, lines []byte) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.end
	s.end = nil
	if end == nil || !tx.Dir().Knows(historyFile, *end) {
		_, t, err := readHistory(tx.Dir())
		if err != nil && !errors.Is(err, ErrDamaged) {
			return err
		}
		end = &t
	}
	t, err := tx.Dir().AppendLog(historyFile, *end, lines, s.sync)
	if err != nil {
		return fmt.Errorf("append to %s: %w", historyFile, err)
	}
	s.end = &t
	s.renamed(tx, historyFile)
	return nil
}

// readHistory returns the items of the history. A last line that was not
// written to its end is no item; any other bad line is damage.
func readHistory(dir *sessiondir.Dir) (items []json.RawMessage, end sessiondir.Tail, err error) {
	var damage error
	end, err = dir.ReadLog(historyFile, func(l jsonl.Line) bool {
		item := isObject(l.Bytes)
		if item {
			items = append(items, bytes.Clone(l.Bytes))
		}
		return item
	}, func(l jsonl.Line) {
		if damage == nil {
			damage = fmt.Errorf("read %s: line %d: %w", historyFile, l.Number, ErrDamaged)
		}
	})
	return items, end, errors.Join(err, damage)
}
