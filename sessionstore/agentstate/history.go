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

// RecordItems appends items to the history. Each item is a JSON object with at
// least one member. When one is refused, none is appended, and the error Is
// [ErrInvalid] and names the item. Line breaks between the members of an item
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
	return wrap("record items", err)
}

func toLines(items []json.RawMessage) (lines []byte, err error) {
	for i, item := range items {
		if !isObject(item) {
			return nil, fmt.Errorf("item %d: %w: not an object", i, ErrInvalid)
		}
		if isEmpty(item) {
			return nil, fmt.Errorf("item %d: %w: an object without members", i, ErrInvalid)
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

// isEmpty reports whether an object has no members.
func isEmpty(object []byte) bool {
	for range pyjson.Members(pyjson.Trim(object)) {
		return false
	}
	return true
}

// History returns a copy of the items. When lines are damaged, it returns the
// others and an error that Is [ErrDamaged].
func (s *State) History(ctx context.Context) (items []json.RawMessage, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		items, _, err = readHistory(dir)
		return err
	})
	return items, wrap("read history", err)
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
