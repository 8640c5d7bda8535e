package workflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
		return 0, &textError{text: "Invalid role: " + role + ". Must be 'user', 'assistant', or 'system'"}
	}
	m := SessionMessage{SessionID: sessionID, PhaseID: phaseID, Role: role, Content: content}
	err := l.addMessage(ctx, &m)
	if err == nil {
		return m.ID, nil
	}
	if text := (*textError)(nil); errors.As(err, &text) {
		return 0, err
	}
	return 0, fmt.Errorf("add message to session %q: %w", sessionID, err)
}

func (l *Log) addMessage(ctx context.Context, m *SessionMessage) error {
	if _, err := l.session(ctx, m.SessionID); err != nil {
		return err
	}
	return l.change(ctx, m.SessionID, conversationFile, func(f *file) error {
		j := parseMessages(f.dir.Path(f.name), f.data)
		id, err := j.nextID()
		if err != nil {
			return err
		}
		m.ID, m.CreatedAt = id, l.stamp()
		line, err := encodeRow(m)
		if err != nil {
			return err
		}
		return f.append(line, j.whole, j.open)
	})
}

func parseMessages(path string, data []byte) journal[SessionMessage] {
	return parseJournal(path, data, func(m *SessionMessage) *int64 { return &m.ID })
}

// Conversation returns the messages of a session, those of one phase when
// phaseID is not nil, by time of creation, then id. A session that does not
// exist has none. Beside a damaged line all others are returned, and an error
// that Is [sessionstore.ErrCorrupt].
func (l *Log) Conversation(ctx context.Context, sessionID string, phaseID *string) ([]SessionMessage, error) {
	data, path, err := l.readExisting(ctx, sessionID, conversationFile)
	if err != nil {
		return nil, wrapRead("conversation", sessionID, err)
	}
	j := parseMessages(path, data)
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
