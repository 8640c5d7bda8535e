package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// SetValue keeps a JSON value under a name of the caller's, for data that has no method of
// its own here. It replaces the value under that name; null forgets it. The bytes stay as
// they are, but for white space around them. All values of a session are in state.json,
// which every change writes anew, so they should be small. A value that is no JSON, or
// nested about a thousand levels deep, is refused: the error Is [ErrInvalid].
func (s *State) SetValue(ctx context.Context, name string, value json.RawMessage) error {
	return s.edit(ctx, "set value", func(raw []byte) ([]byte, error) {
		if name == "" {
			return nil, fmt.Errorf("%w: empty name", ErrInvalid)
		}
		if !json.Valid(value) {
			return nil, fmt.Errorf("%w: the value is not JSON", ErrInvalid)
		}
		all, err := values(raw)
		if err != nil {
			return nil, err
		}
		if value = pyjson.Trim(value); pyjson.KindOf(value) == pyjson.Null {
			all = pyjson.Remove(all, name)
		} else {
			all = pyjson.Splice(all, name, value)
		}
		if raw = pyjson.Splice(raw, "values", all); !isObject(raw) {
			return nil, fmt.Errorf("%w: the value could not be read back", ErrInvalid)
		}
		return raw, nil
	})
}

// Value returns a copy of the value under a name, nil when there is none.
func (s *State) Value(ctx context.Context, name string) (json.RawMessage, error) {
	raw, err := s.object(ctx)
	if err != nil {
		return nil, wrap("read value", err)
	}
	all, err := values(raw)
	if err != nil {
		return nil, wrap("read value", err)
	}
	return bytes.Clone(member(all, name)), nil
}

// values returns the object of all values of state.json.
func values(raw []byte) ([]byte, error) {
	all := member(raw, "values")
	if all == nil {
		return []byte("{}"), nil
	}
	if pyjson.KindOf(all) != pyjson.Object {
		return nil, misshapen(errors.New("values is not an object"))
	}
	return all, nil
}
