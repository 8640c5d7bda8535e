package agentstate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/fault"
	"github.com/amplifier-go/sessionstorage/internal/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options are the settings of a [State].
type Options struct {
	Durability sessionstore.Durability // zero: Durable
	Now        func() time.Time        // nil: time.Now
}

// A State is what an agent keeps of one session.
type State struct {
	base *sessiondir.Base
	id   string
	sync bool
	now  func() time.Time
}

// Open opens the state of a session that exists, else the error Is
// [fs.ErrNotExist]. opts may be nil.
func Open(st *sessionstore.Store, id string, opts *Options) (*State, error) {
	return open(st, id, opts, nil)
}

func open(st *sessionstore.Store, id string, opts *Options, seam *fault.Seam) (*State, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if id == "" || !st.Exists(id) {
		return nil, fmt.Errorf("open state: session %q: %w", id, fs.ErrNotExist)
	}
	base, err := sessiondir.Open(st.Dir(), seam)
	if err != nil {
		return nil, fmt.Errorf("open state: %w", err)
	}
	return &State{base, id, o.Durability != sessionstore.Relaxed, o.Now}, nil
}

// Close releases the state. Nothing is left to be written.
func (s *State) Close() error { return s.base.Close() }

// ID returns the session's id.
func (s *State) ID() string { return s.id }

// RecordItems appends items, each a JSON object, to the history: all of them
// or, when one is refused, none. Line breaks between their members become
// spaces; else they stay as they are.
func (s *State) RecordItems(ctx context.Context, items ...json.RawMessage) error {
	lines, err := toLines(items)
	if err == nil && len(lines) > 0 {
		err = s.locked(ctx, func(dir *sessiondir.Dir) error {
			err := s.changeObject(ctx, dir, stateFile, s.touched)
			if err != nil {
				return err
			}
			return s.appendLines(dir, lines)
		})
	}
	return wrap("record items", err)
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

func toLines(items []json.RawMessage) (lines []byte, err error) {
	for i, item := range items {
		if !isObject(item) {
			return nil, fmt.Errorf("item %d: %w: not an object", i, ErrInvalid)
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

// touched returns raw with the time of this access, and of the first one.
func (s *State) touched(raw []byte) ([]byte, error) {
	now := quote(stamp(s.now()))
	if _, found := pyjson.Lookup(raw, "created"); !found {
		raw = pyjson.Splice(raw, "created", now)
	}
	return pyjson.Splice(raw, "lastAccessed", now), nil
}

// History returns a copy of the items. When lines are damaged, it returns the
// others and an error that Is [ErrDamaged].
func (s *State) History(ctx context.Context) (items []json.RawMessage, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		data, _, err := dir.Read(historyFile)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			items, err = parseHistory(data)
		}
		return err
	})
	return items, wrap("read history", err)
}

// edit changes state.json.
func (s *State) edit(ctx context.Context, what string, edit func(raw []byte) ([]byte, error)) error {
	err := s.locked(ctx, func(dir *sessiondir.Dir) error {
		return s.changeObject(ctx, dir, stateFile, func(raw []byte) ([]byte, error) {
			raw, err := edit(raw)
			if err != nil {
				return nil, err
			}
			return s.touched(raw)
		})
	})
	return wrap(what, err)
}

// object returns state.json.
func (s *State) object(ctx context.Context) (raw []byte, err error) {
	err = s.reading(ctx, func(dir *sessiondir.Dir) error {
		raw, _, err = readObject(dir, stateFile)
		return err
	})
	return raw, err
}

// AddTokenUsage adds tokens, which are not negative, to the total.
func (s *State) AddTokenUsage(ctx context.Context, tokens int64) error {
	return s.edit(ctx, "add token usage", func(raw []byte) ([]byte, error) {
		if tokens < 0 {
			return nil, fmt.Errorf("%w: negative tokens", ErrInvalid)
		}
		info := member(raw, "tokenInfo")
		if info == nil {
			info = []byte("{}")
		}
		name := "total"
		if _, other := pyjson.Lookup(info, "total_tokens"); other {
			name = "total_tokens"
		}
		total, _ := pyjson.Int(member(info, name))
		if total > math.MaxInt64-tokens {
			return nil, fmt.Errorf("%w: too many tokens", ErrInvalid)
		}
		info = pyjson.Splice(info, name, strconv.AppendInt(nil, total+tokens, 10))
		return pyjson.Splice(raw, "tokenInfo", info), nil
	})
}

// SetTokenInfo replaces what is known of the tokens. The counts may be called
// total, prompt and completion, or total_tokens, input_tokens and
// output_tokens; other members are kept.
func (s *State) SetTokenInfo(ctx context.Context, info json.RawMessage) error {
	return s.edit(ctx, "set token info", func(raw []byte) ([]byte, error) {
		if err := checkTokens(info); err != nil {
			return nil, err
		}
		return pyjson.Splice(raw, "tokenInfo", pyjson.Trim(info)), nil
	})
}

func checkTokens(info []byte) error {
	if !isObject(info) {
		return fmt.Errorf("%w: token info is not an object", ErrInvalid)
	}
	for _, name := range []string{"total", "prompt", "completion", "total_tokens", "input_tokens", "output_tokens"} {
		v := member(info, name)
		if n, ok := pyjson.Int(v); v != nil && (!ok || n < 0) {
			return fmt.Errorf("%w: %s is not a count", ErrInvalid, name)
		}
	}
	return nil
}

// TokenInfo is the token usage of a session.
type TokenInfo struct {
	Total, Prompt, Completion int64
}

// TokenInfo returns the token usage; zero when none is known.
func (s *State) TokenInfo(ctx context.Context) (TokenInfo, error) {
	raw, err := s.object(ctx)
	if err != nil {
		return TokenInfo{}, wrap("read token info", err)
	}
	info := member(raw, "tokenInfo")
	count := func(name, other string) int64 {
		n, ok := pyjson.Int(member(info, name))
		if !ok {
			n, _ = pyjson.Int(member(info, other))
		}
		return n
	}
	return TokenInfo{count("total", "total_tokens"), count("prompt", "input_tokens"), count("completion", "output_tokens")}, nil
}

// SetRateLimits replaces the latest rate limits, an object of any shape.
func (s *State) SetRateLimits(ctx context.Context, limits json.RawMessage) error {
	return s.edit(ctx, "set rate limits", func(raw []byte) ([]byte, error) {
		if !isObject(limits) {
			return nil, fmt.Errorf("%w: rate limits are not an object", ErrInvalid)
		}
		return pyjson.Splice(raw, "latestRateLimits", pyjson.Trim(limits)), nil
	})
}

// AddApprovedCommand approves a command, which is not empty, for good.
func (s *State) AddApprovedCommand(ctx context.Context, command string) error {
	return s.edit(ctx, "approve command", func(raw []byte) ([]byte, error) {
		if command == "" {
			return nil, fmt.Errorf("%w: empty command", ErrInvalid)
		}
		return withCommands(raw, append(commands(raw), command)), nil
	})
}

// IsCommandApproved reports whether exactly this command was approved.
func (s *State) IsCommandApproved(ctx context.Context, command string) (bool, error) {
	raw, err := s.object(ctx)
	return err == nil && slices.Contains(commands(raw), command), wrap("read approved commands", err)
}

func commands(raw []byte) (list []string) {
	for v := range pyjson.Elements(member(raw, "approvedCommands")) {
		if pyjson.KindOf(v) == pyjson.String {
			list = append(list, pyjson.Text(v))
		}
	}
	return list
}

// withCommands returns raw with list as its set of commands, sorted.
func withCommands(raw []byte, list []string) []byte {
	list = slices.Clone(list)
	slices.Sort(list)
	set := []byte("[")
	for i, c := range slices.Compact(list) {
		if i > 0 {
			set = append(set, ", "...)
		}
		set = append(set, quote(c)...)
	}
	return pyjson.Splice(raw, "approvedCommands", append(set, ']'))
}

// member returns a member that is there and not null, else nil.
func member(obj []byte, name string) []byte {
	v, found := pyjson.Lookup(obj, name)
	if !found || pyjson.KindOf(v) == pyjson.Null {
		return nil
	}
	return v
}

func quote(s string) []byte { return pyjson.AppendQuoted(nil, s, pyjson.Style{}) }

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
