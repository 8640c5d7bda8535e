package sessionstore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

func init() { children["failing"] = failingChild }

// failingChild does what it is told, line by line, and says what came of it.
func failingChild(dir, argument string) error {
	testenv.LetTrace()
	st, err := sessionstore.Open(dir, &sessionstore.Options{Durability: durabilities[argument], Workspace: filepath.Dir(dir)})
	if err != nil {
		return err
	}
	fmt.Println("ready")
	for order := range testenv.Orders() {
		var call failingCall
		if err := json.Unmarshal([]byte(order), &call); err != nil {
			return err
		}
		var answer failingAnswer
		if err := call.do(context.Background(), st, &answer); err != nil {
			answer.describe(err)
		}
		line, err := json.Marshal(answer)
		if err != nil {
			return err
		}
		fmt.Println(string(line))
	}
	return st.Close()
}

// describe notes an error.
func (a *failingAnswer) describe(err error) {
	a.Error = err.Error()
	var typed *sessionstore.Error
	var recovered *sessionstore.CorruptError // why a backup was read
	a.Typed = errors.As(err, &typed) && typed.Op != "" || errors.As(err, &recovered)
	for _, name := range sortedKeys(failingErrors) {
		if errors.Is(err, failingErrors[name]) {
			a.Is = append(a.Is, name)
		}
	}
	for name, sentinel := range map[string]error{"ErrLocked": sessionstore.ErrLocked, "ErrUnsupported": errors.ErrUnsupported} {
		if errors.Is(err, sentinel) {
			a.Is = append(a.Is, name)
		}
	}
}

func (c failingCall) do(ctx context.Context, st *sessionstore.Store, answer *failingAnswer) error {
	var added []sessionstore.Message
	if c.Row != "" {
		m, err := sessionstore.ParseMessage([]byte(c.Row))
		if err != nil {
			return err
		}
		added = append(added, m)
	}
	switch c.Do {
	case "append":
		return st.Append(ctx, c.ID, added...)
	case "metadata":
		_, err := st.UpdateMetadata(ctx, c.ID, func(md *sessionstore.Metadata) error { return md.Set("n", c.N) })
		return err
	case "config":
		return st.SaveConfig(ctx, c.ID, sessionstore.Metadata{})
	case "acquire":
		return c.acquire(ctx, st)
	case "list":
		return c.list(ctx, st)
	case "messages":
		answer.Loaded = []string{}
		for m, err := range st.Messages(ctx, c.ID) {
			if err != nil {
				answer.Loaded = nil
				return err
			}
			answer.Loaded = append(answer.Loaded, string(m.AppendTo(nil)))
		}
		return nil
	}
	s, err := st.Load(ctx, c.ID)
	switch {
	case err != nil:
		return err
	case s.Recovered != nil:
		return fmt.Errorf("loaded from the backup: %w", s.Recovered.Reason)
	case c.Do == "load":
		answer.Loaded = lines(s.Messages)
		return nil
	}
	rows := append(s.Messages[:len(s.Messages):len(s.Messages)], added...)
	if c.Do == "replace" {
		_, err = st.Replace(ctx, c.ID, s.Revision, rows)
		return err
	}
	if err := errors.Join(s.Metadata.Set("n", c.N), s.Metadata.Set("turn_count", len(rows))); err != nil {
		return err
	}
	return st.Save(ctx, c.ID, rows, s.Metadata)
}

func (c failingCall) acquire(ctx context.Context, st *sessionstore.Store) error {
	hold, err := st.Acquire(ctx, c.ID, sessionstore.Owner{})
	if err != nil {
		return err
	}
	return hold.Release()
}

func (c failingCall) list(ctx context.Context, st *sessionstore.Store) error {
	all, err := st.List(ctx, nil)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(all, func(i sessionstore.Info) bool { return i.ID == c.ID }) {
		return fmt.Errorf("a list of %d lacks %s", len(all), c.ID)
	}
	return nil
}
