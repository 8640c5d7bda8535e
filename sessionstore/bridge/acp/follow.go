package acp

import (
	"context"
	"errors"
	"strings"
	"time"

	proto "github.com/coder/acp-go-sdk"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice/conversation"
)

// noResult is shown of a call without a result. It gives way to the result of a call that
// another program runs at the moment.
const noResult = "Error: no result was stored. The agent stopped before this call ended, or it runs elsewhere."

// burst is the number of updates after which replay pauses. A client of the Go SDK ends the
// connection when it is 1,024 updates late, and it handles them more slowly than it reads them.
const burst = 128

// replay sends what is stored of a session, and what an interrupted answer had said. It sends
// nothing of a session that cannot be read.
func (s *Sessions) replay(ctx context.Context, ses *session) error {
	var rows []conversation.Message
	for e, err := range ses.st.Since(ctx, string(ses.id), sessionstore.Cursor{}) {
		if err != nil {
			return err
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
	sent, begun := 0, time.Now()
	for _, row := range rows {
		all := s.updates(&ses.shown, row, hidden{})
		if err := s.send(ses, all); err != nil {
			return err
		}
		if sent += len(all); sent >= burst {
			time.Sleep(min(3*time.Since(begun), 100*time.Millisecond))
			sent, begun = 0, time.Now()
		}
	}
	ses.shown.draft = draft
	var last []proto.SessionUpdate
	for _, id := range ses.shown.calls {
		last = append(last, result(id, conversation.Result{Text: conversation.Text{Text: noResult}}))
	}
	last = said(last, proto.UpdateAgentThoughtText, draft.Thinking)
	return s.send(ses, said(last, proto.UpdateAgentMessageText, draft.Text))
}

// skip sends nothing of what is stored of a session.
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
			for _, ses := range s.idle(st, proto.SessionId(c.ID)) {
				if err := s.settle(ses); err != nil { // the next call has the error for the client
					s.Logger.Warn("acp: a session cannot be followed", "session", ses.id, "err", err)
				}
			}
		}
	})
	return nil
}

// idle returns the open sessions of a store that have that id, or all where it is empty, and
// run no turn: the end of a turn settles its session.
func (s *Sessions) idle(st *sessionstore.Store, id proto.SessionId) (all []*session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ses := range s.open {
		if ses.st == st && ses.busy == 0 && (id == "" || id == ses.id) {
			all = append(all, ses)
		}
	}
	return all
}

// settle sends what changed in a session: with Follow the rows of others, and its title.
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
				rewound = true // the next load shows what is there now
				continue
			}
			own := ses.owns(e.Message)
			row, err := seen(e.Message)
			if row = ses.shown.rest(row); own || rewound {
				continue
			}
			if err == nil {
				err = s.send(ses, s.updates(&ses.shown, row, hidden{}))
			}
			if err != nil {
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

// rest returns a row without what the client has of it as a draft.
func (sh *shown) rest(row conversation.Message) conversation.Message {
	if len(row.Results) > 0 {
		return row
	}
	if row.Role == "assistant" && row.Text != nil {
		row.Text.Text = strings.TrimPrefix(row.Text.Text, sh.draft.Text)
	}
	if row.Role == "assistant" && row.Thinking != nil {
		row.Thinking.Text = strings.TrimPrefix(row.Thinking.Text, sh.draft.Thinking)
	}
	sh.draft = turn.Draft{} // it was of this row, or is void
	return row
}

// key names a row: an answer by its text, since the turn makes its row.
func key(m sessionstore.Message) string {
	if m.Role() == "assistant" && len(m.ToolCalls()) == 0 {
		return saidKey(m.Content())
	}
	return string(m.AppendTo(nil))
}

func saidKey(text string) string { return "said " + text }

// expect notes a row of this client by its key: it is not sent back.
func (ses *session) expect(key string) {
	ses.mu.Lock()
	defer ses.mu.Unlock()
	if ses.own != nil {
		ses.own[key]++
	}
}

// owns reports whether a row was expected, and expects it no longer.
func (ses *session) owns(m sessionstore.Message) bool {
	k := key(m)
	if ses.own[k] == 0 {
		return false
	}
	if ses.own[k]--; ses.own[k] == 0 {
		delete(ses.own, k)
	}
	return true
}
