package workflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/disk/sessiondir"
	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/limits"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
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
func (w *Workflow) AddMessage(ctx context.Context, sessionID string, phaseID *string, role, content string) (int64, error) {
	if !slices.Contains([]string{userRole, assistantRole, systemRole}, role) {
		return 0, limits.Reference(nil, "Invalid role: "+limits.ID(role)+". Must be 'user', 'assistant', or 'system'")
	}
	m := SessionMessage{SessionID: sessionID, PhaseID: phaseID, Role: role, Content: content}
	err := w.addMessage(ctx, &m)
	if err == nil {
		return m.ID, nil
	}
	if limits.IsReference(err) {
		return 0, err
	}
	return 0, fmt.Errorf("add message to session %q: %w", limits.ID(sessionID), err)
}

func (w *Workflow) addMessage(ctx context.Context, m *SessionMessage) error {
	return w.appendRow(ctx, m.SessionID, &logReader{name: conversationFile, rows: messageIDs{}}, func(_ core.Tx, log *logReader) (any, error) {
		id, err := log.ids.next()
		m.ID, m.CreatedAt = id, pytime.Stamp(w.core.Now())
		return m, err
	})
}

// messageIDs is the rows of a conversation of which only the ids count.
type messageIDs struct{}

func (messageIDs) forget() {}

func (messageIDs) take(r *logReader, line jsonl.Line) bool {
	m, ok := parseMessage(line.Bytes)
	if ok {
		r.ids.of(m.ID)
	}
	return ok
}

// messages is a conversation, in the order of its log.
type messages []SessionMessage

func (all *messages) forget() { *all = nil }

func (all *messages) take(r *logReader, line jsonl.Line) bool {
	m, ok := parseMessage(line.Bytes)
	if ok {
		m.ID = r.ids.of(m.ID)
		*all = append(*all, m)
	}
	return ok
}

func parseMessage(line []byte) (m SessionMessage, ok bool) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return m, false
	}
	return m, json.Unmarshal(line, &m) == nil
}

// Conversation returns the messages of a session, or of one phase when phaseID is not nil,
// by time of creation, then id. A session that does not exist has none. Beside a damaged
// line all others are returned, and an error that Is [sessionstore.ErrCorrupt].
func (w *Workflow) Conversation(ctx context.Context, sessionID string, phaseID *string) ([]SessionMessage, error) {
	var all messages
	log := logReader{name: conversationFile, rows: &all}
	err := w.core.Read(ctx, sessionID, func(dir *sessiondir.Dir) error { return log.refresh(ctx, dir, nil) })
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
	return messages, wrapRead("conversation", sessionID, log.damage)
}

// The roles of messages.
const (
	userRole      = "user"
	assistantRole = "assistant"
	systemRole    = "system"
)

// DefaultMaxPairs is how many pairs of messages a resumed workflow is given.
// At about 1,000 tokens a message and more, they fit a model of 64k tokens.
const DefaultMaxPairs = 25

// ChatMessage is a message for a model.
type ChatMessage struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// ReconstructContext makes the conversation with a model from the records of a workflow:
// from each record that is completed and has a user input, it takes the input and the
// output, empty when there is none. It keeps the last maxPairs pairs; zero and less mean
// [DefaultMaxPairs], as [Workflow.Resume] gives.
func ReconstructContext(outputs []PhaseRecord, maxPairs int) []ChatMessage {
	if maxPairs <= 0 {
		maxPairs = DefaultMaxPairs
	}
	messages := pairs(outputs)
	return messages[max(0, len(messages)/2-maxPairs)*2:]
}

// pairs returns the messages of all records that have them.
func pairs(outputs []PhaseRecord) []ChatMessage {
	messages := []ChatMessage{}
	for _, r := range outputs {
		if r.Status != completed || r.UserInput == nil {
			continue
		}
		output := ""
		if r.Output != nil {
			output = *r.Output
		}
		messages = append(messages, ChatMessage{userRole, *r.UserInput}, ChatMessage{assistantRole, output})
	}
	return messages
}

// ResumeContext is the input of the next phase.
type ResumeContext struct {
	History            []ChatMessage `json:"history"`
	LastCompletedPhase string        `json:"last_completed_phase"`
	TotalPhases        int           `json:"total_phases"` // of the manifest
	CompletedPhases    int           `json:"completed_phases"`
}

// ResumeResult describes how a workflow goes on. NextPhaseID is empty when the last phase
// is completed.
type ResumeResult struct {
	Session     sessionstore.Metadata `json:"session"` // as [Workflow.Session] returns it
	NextPhaseID string                `json:"next_phase_id"`
	Context     ResumeContext         `json:"context"`
}

// Session returns the metadata of a session with one more member, id: the id by which
// [Workflow.Resume] finds it. A user interface reads the session from its JSON. The
// member is not stored: do not save the result.
func (w *Workflow) Session(ctx context.Context, sessionID string) (sessionstore.Metadata, error) {
	md, err := w.store.Metadata(ctx, sessionID)
	switch {
	case errors.Is(err, sessionstore.ErrClosed), err != nil && ctx.Err() != nil:
		return md, err
	case err != nil:
		return md, limits.Reference(err, fmt.Sprintf("Session %s not found: %v", limits.ID(sessionID), err))
	}
	return md, md.Set("id", sessionID)
}

// Resume returns how the workflow of a session goes on: with the phase that follows the
// last completed one in the session's manifest. It changes nothing. A session that is
// completed, failed or of any other status than in_progress is refused, as is one without
// completed phases; no status is in_progress. Beside damage in the log the result holds all
// records that could be read, and the error Is [sessionstore.ErrCorrupt]. It reads the
// whole log, and needs the memory of the inputs and outputs in it, but not of the system
// prompts.
//
// The example Resume of package slice/accept shows how an agent goes on with a
// session.
func (w *Workflow) Resume(ctx context.Context, sessionID string) (ResumeResult, error) {
	md, err := w.Session(ctx, sessionID)
	if err != nil {
		return ResumeResult{}, err
	}
	if err := resumable(sessionID, md); err != nil {
		return ResumeResult{}, err
	}
	records, damage := w.phaseRecords(ctx, sessionID, textLimits{prompt: 0, input: math.MaxInt, output: math.MaxInt})
	if err := ignoreCorrupt(damage); err != nil {
		return ResumeResult{}, err
	}
	done := slices.DeleteFunc(slices.Clone(records), func(r PhaseRecord) bool { return r.Status != completed })
	if len(done) == 0 {
		text := "Session " + sessionID + " has no completed phases to resume from"
		return ResumeResult{}, limits.Reference(damage, text)
	}
	last := done[len(done)-1].PhaseID
	manifest, err := w.manifestOf(md)
	if err != nil {
		return ResumeResult{}, fmt.Errorf("resume session %q: %w", limits.ID(sessionID), err)
	}
	next, err := manifest.after(last)
	if err != nil {
		return ResumeResult{}, fmt.Errorf("resume session %q: %w", limits.ID(sessionID), err)
	}
	return ResumeResult{md, next, ResumeContext{
		History:            ReconstructContext(records, DefaultMaxPairs),
		LastCompletedPhase: last,
		TotalPhases:        len(manifest.Phases),
		CompletedPhases:    len(done),
	}}, damage
}

// resumable refuses a session that is not in progress.
func resumable(id string, md sessionstore.Metadata) error {
	if isMissing(md, statusMember) {
		return nil
	}
	raw, _ := md.Lookup(statusMember)
	status := string(raw)
	switch pyjson.KindOf(raw) {
	case pyjson.String:
		status = md.Text(statusMember)
	case pyjson.Object, pyjson.Array:
		status = "an object or array"
	}
	switch status {
	case inProgress:
		return nil
	case completed:
		return limits.Reference(nil, "Session "+limits.ID(id)+" already completed")
	case failed:
		return limits.Reference(nil, "Session "+limits.ID(id)+" failed and cannot be resumed")
	}
	return limits.Reference(nil, "Session "+limits.ID(id)+" has invalid status: "+limits.ID(status))
}

// manifestOf returns the manifest that a session began with.
func (w *Workflow) manifestOf(md sessionstore.Metadata) (Manifest, error) {
	if isMissing(md, manifestMember) {
		if len(w.manifests) == 0 {
			return Manifest{}, errors.New("no manifest is known")
		}
		return w.manifests[0], nil
	}
	name := md.Text(manifestMember)
	i := slices.IndexFunc(w.manifests, func(m Manifest) bool { return m.Name == name })
	if i < 0 {
		return Manifest{}, fmt.Errorf("manifest %q is unknown", name)
	}
	return w.manifests[i], nil
}

// after returns the phase that follows, empty after the last.
func (m Manifest) after(phase string) (string, error) {
	i := slices.Index(m.Phases, phase)
	switch {
	case i < 0:
		return "", fmt.Errorf("phase %q is not in manifest %q", phase, m.Name)
	case i == len(m.Phases)-1:
		return "", nil
	}
	return m.Phases[i+1], nil
}
