//go:build !386 && !arm

package eino

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cloudwego/eino/compose"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
)

// CheckPoints keeps the checkpoints of one session. Its methods may be called
// by many goroutines, and many processes may use one session; the last to set
// a checkpoint wins.
type CheckPoints struct {
	store *sessionstore.Store
	id    string
}

var _ compose.CheckPointStore = (*CheckPoints)(nil)

// New returns the checkpoints of session id, which need not exist yet. It
// touches no disk; the store must stay open.
func New(store *sessionstore.Store, id string) *CheckPoints { return &CheckPoints{store, id} }

// Get returns a checkpoint, and false when there is none.
func (c *CheckPoints) Get(ctx context.Context, checkPointID string) ([]byte, bool, error) {
	state, err := agentstate.Open(c.store, c.id, nil)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer state.Close()
	raw, err := state.Value(ctx, name(checkPointID))
	if err != nil || raw == nil {
		return nil, false, err
	}
	var checkPoint []byte
	if err := json.Unmarshal(raw, &checkPoint); err != nil {
		return nil, false, fmt.Errorf("decode checkpoint %q of session %q: not base64", checkPointID, c.id)
	}
	return checkPoint, true, nil
}

// Set keeps a checkpoint and makes the session when there is none. It is on the
// disk when Set returns nil, and may be after an error.
func (c *CheckPoints) Set(ctx context.Context, checkPointID string, checkPoint []byte) error {
	if checkPoint == nil {
		checkPoint = []byte{} // null would forget it
	}
	raw, err := json.Marshal(checkPoint)
	if err != nil {
		return err
	}
	if !c.store.Exists(c.id) {
		err := c.store.Create(ctx, c.id, sessionstore.Metadata{})
		if err != nil && !errors.Is(err, fs.ErrExist) { // another program may make it first
			return err
		}
	}
	return c.set(ctx, checkPointID, raw)
}

// Delete removes a checkpoint, if there is one. Newer versions of eino delete
// checkpoints by this optional method. Older ones, such as v0.7, leave the
// checkpoint of a run that ended, so that the program has to call it.
func (c *CheckPoints) Delete(ctx context.Context, checkPointID string) error {
	if !c.store.Exists(c.id) {
		return nil
	}
	return c.set(ctx, checkPointID, json.RawMessage("null"))
}

func (c *CheckPoints) set(ctx context.Context, checkPointID string, raw json.RawMessage) error {
	state, err := agentstate.Open(c.store, c.id, nil)
	if err != nil {
		return err
	}
	defer state.Close()
	return state.SetValue(ctx, name(checkPointID), raw)
}

// name returns the name of a checkpoint's value in state.json.
func name(checkPointID string) string { return "eino/" + checkPointID }
