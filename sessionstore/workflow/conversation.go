package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/show"
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
		return 0, &textError{text: "Invalid role: " + show.ID(role) + ". Must be 'user', 'assistant', or 'system'"}
	}
	m := SessionMessage{SessionID: sessionID, PhaseID: phaseID, Role: role, Content: content}
	err := l.addMessage(ctx, &m)
	if err == nil {
		return m.ID, nil
	}
	if text := (*textError)(nil); errors.As(err, &text) {
		return 0, err
	}
	return 0, fmt.Errorf("add message to session %q: %w", show.ID(sessionID), err)
}

func (l *Log) addMessage(ctx context.Context, m *SessionMessage) error {
	return l.extend(ctx, m.SessionID, conversationFile, loadConversation, func(_ core.Tx, e *end) (any, error) {
		id, err := e.nextID()
		m.ID, m.CreatedAt = id, l.stamp()
		e.lastID = id
		return m, err
	})
}

func messageID(m *SessionMessage) *int64 { return &m.ID }

func loadConversation(dir *sessiondir.Dir) (end, error) {
	j, tail, err := readJournal(dir, conversationFile, parseRow[SessionMessage], messageID)
	return end{Tail: tail, lastID: j.lastID}, err
}

// Conversation returns the messages of a session, those of one phase when
// phaseID is not nil, by time of creation, then id. A session that does not
// exist has none. Beside a damaged line all others are returned, and an error
// that Is [sessionstore.ErrCorrupt].
func (l *Log) Conversation(ctx context.Context, sessionID string, phaseID *string) ([]SessionMessage, error) {
	j, err := read(ctx, l, sessionID, conversationFile, messageID)
	if err != nil {
		return nil, wrapRead("conversation", sessionID, err)
	}
	messages := []SessionMessage{}
	for _, m := range j.rows {
		if phaseID == nil || m.PhaseID != nil && *m.PhaseID == *phaseID {
			m.SessionID = sessionID
			messages = append(messages, m)
		}
	}
	slices.SortStableFunc(messages, func(a, b SessionMessage) int {
		return byCreation(a.CreatedAt, b.CreatedAt, a.ID, b.ID)
	})
	return messages, wrapRead("conversation", sessionID, j.damage)
}
