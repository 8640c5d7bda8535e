package langchaingo

import (
	"context"
	"errors"
	"io/fs"
	"reflect"
	"time"

	"github.com/tmc/langchaingo/llms"
	"github.com/tmc/langchaingo/schema"

	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// History is the history of one session. Its methods may be called by many
// goroutines, and other programs may add to the session at any time.
type History struct {
	store *sessionstore.Store
	id    string
}

var _ schema.ChatMessageHistory = (*History)(nil)

// New returns the history of session id, which need not exist yet. It touches
// no disk; the store must stay open.
func New(store *sessionstore.Store, id string) *History { return &History{store, id} }

// AddMessage appends a message and makes the session when there is none. It is
// on the disk when AddMessage returns nil, and may be after an error.
func (h *History) AddMessage(ctx context.Context, message llms.ChatMessage) error {
	row, err := toRow(message, time.Now())
	if err != nil {
		return err
	}
	if err := h.ensure(ctx); err != nil {
		return err
	}
	return h.store.Append(ctx, h.id, row) // which counts the turns
}

// AddUserMessage appends a message of the user.
func (h *History) AddUserMessage(ctx context.Context, message string) error {
	return h.AddMessage(ctx, llms.HumanChatMessage{Content: message})
}

// AddAIMessage appends an answer of the model.
func (h *History) AddAIMessage(ctx context.Context, message string) error {
	return h.AddMessage(ctx, llms.AIChatMessage{Content: message})
}

// Messages returns the messages of the session, none when it does not exist.
// For a damaged session it returns all that could be read, and an error that Is
// [sessionstore.ErrCorrupt].
func (h *History) Messages(ctx context.Context) ([]llms.ChatMessage, error) {
	rows, _, err := h.load(ctx)
	messages := make([]llms.ChatMessage, len(rows))
	for i, row := range rows {
		messages[i] = toMessage(row)
	}
	return messages, err
}

// SetMessages makes messages the whole history. Rows that stay keep their
// bytes: times, blocks and members that langchaingo does not know are not
// lost. When another program wrote in between, nothing changes and the error Is
// [sessionstore.ErrConflict].
func (h *History) SetMessages(ctx context.Context, messages []llms.ChatMessage) error {
	if err := h.ensure(ctx); err != nil {
		return err
	}
	rows, revision, err := h.load(ctx)
	if err != nil {
		return err
	}
	rows, err = reuse(rows, messages)
	if err != nil {
		return err
	}
	if _, err := h.store.Replace(ctx, h.id, revision, rows); err != nil {
		return err
	}
	turns := 0
	for _, row := range rows {
		if row.Role() == "user" {
			turns++
		}
	}
	return h.setTurns(ctx, turns)
}

// Clear removes all messages. The session and its metadata stay, and its
// transcript becomes the backup.
func (h *History) Clear(ctx context.Context) error { return h.SetMessages(ctx, nil) }

// ensure makes the session when there is none.
func (h *History) ensure(ctx context.Context) error {
	if h.store.Exists(h.id) {
		return nil
	}
	err := h.store.Create(ctx, h.id, sessionstore.Metadata{})
	if errors.Is(err, fs.ErrExist) { // another program made it first
		return nil
	}
	return err
}

// load returns the rows of the session and their revision.
func (h *History) load(ctx context.Context) ([]sessionstore.Message, sessionstore.Revision, error) {
	s, err := h.store.Load(ctx, h.id)
	if errors.Is(err, sessionstore.ErrNotFound) {
		return nil, sessionstore.Revision{}, nil
	}
	if s == nil {
		return nil, sessionstore.Revision{}, err
	}
	return s.Messages, s.Revision, err
}

// setTurns sets the turn_count that the Python tools list.
func (h *History) setTurns(ctx context.Context, turns int) error {
	_, err := h.store.UpdateMetadata(ctx, h.id, func(md *sessionstore.Metadata) error {
		return md.Set("turn_count", turns)
	})
	return err
}

// reuse returns the rows for messages: for each message the next row that says the same,
// or a new row. It leaves new system messages out.
func reuse(rows []sessionstore.Message, messages []llms.ChatMessage) ([]sessionstore.Message, error) {
	var set []sessionstore.Message
	now := time.Now()
	next := 0
	for _, message := range messages {
		at := next
		for at < len(rows) && !reflect.DeepEqual(toMessage(rows[at]), message) {
			at++
		}
		if at < len(rows) {
			set = append(set, rows[at])
			next = at + 1
			continue
		}
		row, err := toRow(message, now)
		if err != nil {
			return nil, err
		}
		if row.Role() != "system" {
			set = append(set, row)
		}
	}
	return set, nil
}
