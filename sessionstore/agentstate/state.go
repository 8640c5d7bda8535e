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
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/store/approvals"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// Options are the settings of a [State].
type Options struct {
	Durability sessionstore.Durability // Relaxed: less than the store's; else the store's
}

// A State is the stored state of an agent in one session.
type State struct {
	core   core.Store
	id     string
	sync   bool
	now    func() time.Time
	closed atomic.Bool

	mu  sync.Mutex       // guards end
	end *sessiondir.Tail // of the history as this State last wrote it
}

// Open opens the state of a session. The error Is [fs.ErrNotExist] when there
// is no such session. opts may be nil. Closing the store waits for calls under
// way; later calls fail with [sessionstore.ErrClosed].
func Open(st *sessionstore.Store, id string, opts *Options) (*State, error) {
	var o Options
	if opts != nil {
		o = *opts
	}
	store := core.Of(st)
	if id == "" || !st.Exists(id) {
		return nil, limits.Errorf(fs.ErrNotExist, "open state: there is no session %q", limits.ID(id))
	}
	return &State{core: store, id: id, sync: store.Syncs() && o.Durability != sessionstore.Relaxed, now: store.Now}, nil
}

// Close ends the use of the state: later calls fail with
// [sessionstore.ErrClosed]. Nothing is left to be written.
func (s *State) Close() error {
	s.closed.Store(true)
	return nil
}

var errClosed = limits.Errorf(sessionstore.ErrClosed, "the state is closed")

// changing does something with the session's directory as its only writer.
func (s *State) changing(ctx context.Context, do func(core.Tx) error) error {
	if s.closed.Load() {
		return errClosed
	}
	return s.core.Change(ctx, s.id, do)
}

// reading does something with the session's directory without a lock.
func (s *State) reading(ctx context.Context, do func(*sessiondir.Dir) error) error {
	if s.closed.Load() {
		return errClosed
	}
	return s.core.Read(ctx, s.id, do)
}

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
		return nil, wrapError("read value", err)
	}
	all, err := values(raw)
	if err != nil {
		return nil, wrapError("read value", err)
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
		return nil, damagedMember(errors.New("values is not an object"))
	}
	return all, nil
}

// AddTokenUsage adds tokens, which are not negative, to the total.
func (s *State) AddTokenUsage(ctx context.Context, tokens int64) error {
	return s.edit(ctx, "add token usage", func(raw []byte) ([]byte, error) {
		if tokens < 0 {
			return nil, fmt.Errorf("%w: negative tokens", ErrInvalid)
		}
		info, err := tokenInfo(raw)
		if err != nil {
			return nil, err
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

// SetTokenInfo replaces the token counts. The counts may be called total, prompt and
// completion, or total_tokens, input_tokens and output_tokens; other members are kept.
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
		return TokenInfo{}, wrapError("read token info", err)
	}
	info, err := tokenInfo(raw)
	if err != nil {
		return TokenInfo{}, wrapError("read token info", err)
	}
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
// [State.RateLimits] reads it.
func (s *State) SetRateLimits(ctx context.Context, limits json.RawMessage) error {
	return s.edit(ctx, "set rate limits", func(raw []byte) ([]byte, error) {
		if !isObject(limits) {
			return nil, fmt.Errorf("%w: rate limits are not an object", ErrInvalid)
		}
		return pyjson.Splice(raw, "latestRateLimits", pyjson.Trim(limits)), nil
	})
}

// RateLimits returns a copy of the latest rate limits, nil when none are known.
// Limits that are no object are damage: the error Is [ErrDamaged].
func (s *State) RateLimits(ctx context.Context) (json.RawMessage, error) {
	raw, err := s.object(ctx)
	if err != nil {
		return nil, wrapError("read rate limits", err)
	}
	limits := member(raw, "latestRateLimits")
	if limits != nil && pyjson.KindOf(limits) != pyjson.Object {
		return nil, wrapError("read rate limits", damagedMember(fmt.Errorf("%w: latestRateLimits is not an object", ErrInvalid)))
	}
	return bytes.Clone(limits), nil
}

// AddApprovedCommand approves a command for good, in this session of this sessions
// directory. The error Is [ErrInvalid] when the command is nothing but white space.
func (s *State) AddApprovedCommand(ctx context.Context, command string) error {
	return s.edit(ctx, "approve command", func(raw []byte) ([]byte, error) {
		if isBlank(command) {
			return nil, fmt.Errorf("%w: blank command", ErrInvalid)
		}
		list, err := commands(raw)
		if err != nil {
			return nil, err
		}
		return s.marked(ctx, withCommands(raw, append(list, command)), command)
	})
}

// IsCommandApproved reports whether exactly this command was approved in this session of
// this sessions directory.
func (s *State) IsCommandApproved(ctx context.Context, command string) (bool, error) {
	raw, err := s.object(ctx)
	if err != nil {
		return false, wrapError("read approved commands", err)
	}
	list, err := commands(raw)
	if err == nil && slices.Contains(list, command) {
		list, err = s.commandsApprovedHere(raw, []string{command})
	}
	return err == nil && slices.Contains(list, command), wrapError("read approved commands", err)
}

// ApprovedCommands returns the commands that were approved in this session of this sessions
// directory, sorted.
func (s *State) ApprovedCommands(ctx context.Context) ([]string, error) {
	raw, err := s.object(ctx)
	if err != nil {
		return nil, wrapError("read approved commands", err)
	}
	list, err := s.approvedCommands(raw)
	slices.Sort(list)
	return list, wrapError("read approved commands", err)
}

// approvedCommands returns the commands of state.json that were approved here.
func (s *State) approvedCommands(raw []byte) ([]string, error) {
	list, err := commands(raw)
	if err != nil || len(list) == 0 {
		return nil, err
	}
	return s.commandsApprovedHere(raw, list)
}

// commandsApprovedHere returns those commands of list whose mark is in state.json.
func (s *State) commandsApprovedHere(raw []byte, list []string) ([]string, error) {
	marks, err := commandMarks(raw)
	if err != nil {
		return nil, err
	}
	secret, err := s.readKey()
	return slices.DeleteFunc(list, func(command string) bool {
		mark := s.commandMark(secret, command)
		return mark == "" || !slices.Contains(marks, mark)
	}), err
}

// marked returns raw with the marks of commands. It keeps those that are there: another
// device may have approved its commands by them.
func (s *State) marked(ctx context.Context, raw []byte, commands ...string) ([]byte, error) {
	if len(commands) == 0 {
		return raw, nil
	}
	marks, err := commandMarks(raw)
	if err != nil {
		return nil, err
	}
	secret, err := s.madeKey(ctx)
	if err != nil {
		return nil, err
	}
	all := slices.Collect(pyjson.Elements(member(raw, approvals.Marks)))
	for _, command := range commands {
		if mark := s.commandMark(secret, command); !slices.Contains(marks, mark) {
			marks, all = append(marks, mark), append(all, pyjson.Quote(mark))
		}
	}
	return pyjson.Splice(raw, approvals.Marks, pyjson.ArrayOf(all)), nil
}

func isBlank(command string) bool { return strings.TrimSpace(command) == "" }

// commands returns the approved commands of state.json.
func commands(raw []byte) ([]string, error) {
	list, err := readCommands(member(raw, approvals.Commands))
	return list, damagedMember(err)
}

// commandMarks returns the marks of approved commands in state.json.
func commandMarks(raw []byte) (marks []string, err error) {
	all := member(raw, approvals.Marks)
	if all != nil && pyjson.KindOf(all) != pyjson.Array {
		return nil, damagedMember(errors.New("approvedMarks is not an array"))
	}
	for v := range pyjson.Elements(all) {
		marks = append(marks, pyjson.Text(v))
	}
	return marks, nil
}

// tokenInfo returns the token usage of state.json, an object.
func tokenInfo(raw []byte) ([]byte, error) {
	info := member(raw, "tokenInfo")
	if info == nil {
		return []byte("{}"), nil
	}
	return info, damagedMember(checkTokens(info))
}

// damagedMember returns the fault of a member as damage of state.json, which is not overwritten
// then.
func damagedMember(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("read %s: %w: %v", stateFile, ErrDamaged, err)
}

// withCommands returns raw with list as its set of commands, sorted.
func withCommands(raw []byte, list []string) []byte {
	list = slices.Clone(list)
	slices.Sort(list)
	var set [][]byte
	for _, c := range slices.Compact(list) {
		set = append(set, pyjson.Quote(c))
	}
	return pyjson.Splice(raw, approvals.Commands, pyjson.ArrayOf(set))
}

func readCommands(raw []byte) (list []string, err error) {
	if raw != nil && pyjson.KindOf(raw) != pyjson.Array {
		return nil, fmt.Errorf("%w: approvedCommands is not an array", ErrInvalid)
	}
	for v := range pyjson.Elements(raw) {
		if pyjson.KindOf(v) != pyjson.String || pyjson.Text(v) == "" {
			return nil, fmt.Errorf("%w: approved command is empty or no text", ErrInvalid)
		}
		list = append(list, pyjson.Text(v))
	}
	return list, nil
}
