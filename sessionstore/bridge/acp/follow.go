package acp

import (
	"context"
	"errors"
	"strings"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// replay sends what is stored of a session, and what the draft of an interrupted answer says.
func (s *Sessions) replay(ctx context.Context, ses *session) error {
	var rows []conversation.Message
	for e, err := range ses.st.Since(ctx, string(ses.id), sessionstore.Cursor{}) {
		if err != nil {
			return err // before the first row is shown
		}
		row, err := seen(e.Message)
		if err != nil {
			return err
		}
		rows, ses.next = append(rows, row), e.Next
	}
	draft, err := turn.ReadDraft(ctx, ses.st, string(ses.id))
	if err != nil {
		return err
	}
	for _, row := range rows {
		if err := s.send(ses, s.updates(&ses.shown, row, true, true)); err != nil {
			return err
		}
	}
	var last []proto.SessionUpdate
	for _, w := range ses.shown.waiting {
		last = append(last, result(w.name, conversation.Result{Text: conversation.Text{Text: noResult}}))
	}
	last = said(last, proto.UpdateAgentThoughtText, draft.Thinking)
	last = said(last, proto.UpdateAgentMessageText, draft.Text)
	ses.shown.draft = draft
	return s.send(ses, last)
}

// noResult is shown of a call without a result, such as one that runs at the moment in
// another program: then its result replaces this text.
const noResult = "Error: no result was stored. The agent stopped before this call ended, or it goes on elsewhere."

// skip begins to follow a session after all that is stored.
func (s *Sessions) skip(ctx context.Context, ses *session) error {
	v, err := ses.st.View(ctx, string(ses.id))
	if err == nil {
		ses.next, err = v.Cursor(ctx, v.Len())
	}
	if v != nil {
		err = errors.Join(err, v.Close())
	}
	return err
}

// watch begins to follow the sessions of a store.
func (s *Sessions) watch(st *sessionstore.Store) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.Follow || s.watched[st] {
		return nil
	}
	w, err := st.Watch(s.ctx)
	if err != nil {
		return err
	}
	s.watched[st] = true
	s.running.Go(func() {
		for c := range w.Changes() {
			for _, ses := range s.changed(st, proto.SessionId(c.ID)) {
				if err := s.settle(ses); err != nil { // the next call on the session has the error
					s.Logger.Warn("acp: a session cannot be followed", "session", ses.id, "err", err)
				}
			}
		}
	})
	return nil
}

// changed returns the open sessions that a change is of, without those that have a turn:
// the end of the turn sends the change. An empty id is all sessions.
func (s *Sessions) changed(st *sessionstore.Store, id proto.SessionId) (all []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range s.open {
		if ses.st == st && ses.busy == 0 && (id == "" || id == ses.id) {
			all = append(all, ses)
		}
	}
	return all
}

// settle sends what changed in a session: its title, and with Follow the rows of others.
func (s *Sessions) settle(ses *session) error {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	rewound := false
	if s.Follow {
		for e, err := range ses.st.Since(s.ctx, string(ses.id), ses.next) {
			if err != nil {
				return err
			}
			ses.next = e.Next
			if e.N == 0 {
				rewound = true
				continue
			}
			row, err := seen(e.Message)
			if err != nil {
				return err
			}
			if own := ses.owns(e.Message, row); own || rewound { // the next load shows a conversation that was rewound
				continue
			}
			if err := s.send(ses, s.updates(&ses.shown, ses.shown.rest(row), true, true)); err != nil {
				return err
			}
		}
	}
	sum, err := ses.st.Summary(s.ctx, string(ses.id))
	if err != nil || sum.Title == ses.title && !rewound {
		return err
	}
	ses.title = sum.Title
	return s.send(ses, []proto.SessionUpdate{{SessionInfoUpdate: &proto.SessionSessionInfoUpdate{Title: &sum.Title, UpdatedAt: when(sum.Changed)}}})
}

// rest returns a row without what the client has been shown of it as a draft.
func (sh *shown) rest(row conversation.Message) conversation.Message {
	for _, part := range []struct {
		of    *conversation.Text
		known string
	}{{row.Text, sh.draft.Text}, {row.Thinking, sh.draft.Thinking}} {
		if part.of != nil && row.Role == "assistant" {
			part.of.Text = strings.TrimPrefix(part.of.Text, part.known)
		}
	}
	sh.draft = turn.Draft{}
	return row
}

// expect notes that the client has what a key means: it is not sent back. Without
// Follow nothing is noted.
func (ses *session) expect(key string) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.own != nil {
		ses.own[key]++
	}
}

// The keys of rows that this client has: the rows of steps, the results of calls, and answers.
func rowKey(m sessionstore.Message) string { return "row " + string(m.AppendTo(nil)) }
func callKey(id string) string             { return "call " + id }
func saidKey(text string) string           { return "said " + text }

// owns reports whether a row was expected, and expects it no longer.
func (ses *session) owns(m sessionstore.Message, row conversation.Message) bool {
	keys := []string{rowKey(m)}
	if row.Role == "assistant" {
		keys = append(keys, saidKey(m.Content()))
	}
	for _, r := range row.Results {
		keys = append(keys, callKey(r.ID))
	}
	for _, key := range keys {
		if ses.own[key] > 0 {
			if ses.own[key]--; ses.own[key] == 0 {
				delete(ses.own, key)
			}
			return true
		}
	}
	return false
}
