package workflow

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/limits"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// SessionMessage is one message of a session's conversation. The time is RFC
// 3339 in UTC with milliseconds.
type SessionMessage struct {
	ID        int64   `json:"id"`
	SessionID string  `json:"session_id"`
	PhaseID   *string `json:"phase_id"`
	Role      string  `json:"role"`
	Content   string  `json:"content"`
	CreatedAt string  `json:"created_at"`
}

// AddMessage adds a message to the conversation of a session, of a phase where
// phaseID is not nil, and returns its id: 1, 2, … in each session, never used
// again. The role is user, assistant or system. An error after the write began
// may leave the message added.
func (l *Log) AddMessage(ctx context.Context, sessionID string, phaseID *string, role, content string) (int64, error) {
	if !slices.Contains([]string{userRole, assistantRole, systemRole}, role) {
		return 0, &textError{text: "Invalid role: " + limits.ID(role) + ". Must be 'user', 'assistant', or 'system'"}
	}
	m := SessionMessage{SessionID: sessionID, PhaseID: phaseID, Role: role, Content: content}
	err := l.addMessage(ctx, &m)
	if err == nil {
		return m.ID, nil
	}
	if text := (*textError)(nil); errors.As(err, &text) {
		return 0, err
	}
	return 0, fmt.Errorf("add message to session %q: %w", limits.ID(sessionID), err)
}

func (l *Log) addMessage(ctx context.Context, m *SessionMessage) error {
	return l.extend(ctx, m.SessionID, conversationFile, loadConversation, func(_ core.Tx, e *end) (any, error) {
		id, err := e.ids.next()
		m.ID, m.CreatedAt = id, l.stamp()
		return m, err
	})
}

func loadConversation(dir *sessiondir.Dir) (end, error) {
	_, e, _, err := readConversation(dir)
	return e, err
}

// readConversation returns the messages of the log, in its order, and the damage of the
// first line that is none.
func readConversation(dir *sessiondir.Dir) (messages []SessionMessage, e end, damage, err error) {
	e.Tail, err = dir.ReadLog(conversationFile, func(line jsonl.Line) bool {
		m, ok := parseMessage(line.Bytes)
		if ok {
			m.ID = e.ids.of(m.ID)
			messages = append(messages, m)
		}
		return ok
	}, func(line jsonl.Line) {
		e.ids.skip()
		damage = cmp.Or(damage, notRecord(dir.Path(conversationFile), line))
	})
	return messages, e, damage, err
}

func parseMessage(line []byte) (m SessionMessage, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return m, false
	}
	return m, json.Unmarshal(line, &m) == nil
}

// Conversation returns the messages of a session, those of one phase when
// phaseID is not nil, by time of creation, then id. A session that does not
// exist has none. Beside a damaged line all others are returned, and an error
// that Is [sessionstore.ErrCorrupt].
func (l *Log) Conversation(ctx context.Context, sessionID string, phaseID *string) ([]SessionMessage, error) {
	var all []SessionMessage
	var damage error
	err := l.core.Read(ctx, sessionID, func(dir *sessiondir.Dir) (err error) {
		all, _, damage, err = readConversation(dir)
		return err
	})
	if err != nil && !errors.Is(err, sessionstore.ErrNotFound) {
		return nil, wrapRead("conversation", sessionID, err)
	}
	messages := []SessionMessage{}
	for _, m := range all {
		if phaseID == nil || m.PhaseID != nil && *m.PhaseID == *phaseID {
			m.SessionID = sessionID
			messages = append(messages, m)
		}
	}
	slices.SortStableFunc(messages, func(a, b SessionMessage) int {
		return byCreation(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return messages, wrapRead("conversation", sessionID, damage)
}
