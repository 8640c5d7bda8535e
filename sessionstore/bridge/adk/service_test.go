package adk

import (
	"context"
	"io/fs"
	"iter"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/stretchr/testify/require"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	"google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

func open(t *testing.T, dir string) (*Service, *projects.Projects) {
	t.Helper()
	p, err := projects.Open(dir, &sessionstore.Options{Durability: sessionstore.Relaxed})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return New(p), p
}

// made is a model that calls a tool on the first question, and then says how many contents
// it was sent.
type made struct{}

func (made) Name() string { return "made" }

func (made) GenerateContent(_ context.Context, r *model.LLMRequest, _ bool) iter.Seq2[*model.LLMResponse, error] {
	return func(yield func(*model.LLMResponse, error) bool) {
		last := r.Contents[len(r.Contents)-1].Parts[0]
		answer := genai.NewContentFromText("It will rain. I know "+string(rune('0'+len(r.Contents)))+" contents.", genai.RoleModel)
		if last.Text == "Will it rain?" {
			answer = genai.NewContentFromFunctionCall("look", map[string]any{"place": "here"}, genai.RoleModel)
		}
		yield(&model.LLMResponse{Content: answer}, nil)
	}
}

type place struct {
	Place string `json:"place"`
}

// ask asks an agent with adk-go's own runner, in a process of its own as far as the service
// can tell.
func ask(t *testing.T, dir, id, question string) (answer string) {
	t.Helper()
	s, _ := open(t, dir)
	look, err := functiontool.New(functiontool.Config{Name: "look", Description: "looks at the sky"}, func(c agent.Context, at place) (map[string]any, error) {
		return map[string]any{"sky": "grey over " + at.Place}, c.State().Set("looked", at.Place)
	})
	require.NoError(t, err)
	a, err := llmagent.New(llmagent.Config{Name: "weather", Model: made{}, Tools: []tool.Tool{look}, OutputKey: "said"})
	require.NoError(t, err)
	r, err := runner.New(runner.Config{AppName: "Weather", Agent: a, SessionService: s, AutoCreateSession: true})
	require.NoError(t, err)
	for e, err := range r.Run(t.Context(), "ada", id, genai.NewContentFromText(question, genai.RoleUser), agent.RunConfig{}) {
		require.NoError(t, err)
		answer = e.Content.Parts[0].Text
	}
	return answer
}

// TestRunner asks twice with adk-go's runner, the second time after a restart, and then once
// more after a rewind of the first answer.
func TestRunner(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.Equal(t, "It will rain. I know 3 contents.", ask(t, dir, "talk", "Will it rain?"), "the question, the call and its result")
	require.Equal(t, "It will rain. I know 5 contents.", ask(t, dir, "talk", "And tomorrow?"))

	s, p := open(t, dir)
	get := &session.GetRequest{AppName: "Weather", UserID: "ada", SessionID: "talk"}
	got, err := s.Get(t.Context(), get)
	require.NoError(t, err)
	require.Equal(t, 6, got.Session.Events().Len())
	require.Equal(t, "here", got.Session.Events().At(1).Content.Parts[0].FunctionCall.Args["place"])
	require.Equal(t, map[string]any{"looked": "here", "said": "It will rain. I know 5 contents."}, maps.Collect(got.Session.State().All()))

	// Other tools see a conversation of two turns, and a fork has the state of its turn.
	found, err := p.Find(t.Context(), projects.Query{Keyword: "tomorrow"})
	require.NoError(t, err)
	require.Len(t, found, 1)
	st, err := p.Store(found[0].Project)
	require.NoError(t, err)
	rows, err := st.Load(t.Context(), "talk")
	require.NoError(t, err)
	require.Equal(t, 2, slice.CountTurns(rows.Messages))
	first := 1
	fork, err := slice.Fork(t.Context(), st, "talk", &slice.ForkOptions{Turn: &first})
	require.NoError(t, err)
	get.SessionID = fork.ID
	got, err = s.Get(t.Context(), get)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"looked": "here", "said": "It will rain. I know 3 contents."}, maps.Collect(got.Session.State().All()))
	require.Equal(t, "It will rain. I know 5 contents.", ask(t, dir, fork.ID, "And tomorrow?"))

	// A message of another tool is an event.
	note, err := sessionstore.Text("user", "Take an umbrella.", time.Now())
	require.NoError(t, err)
	require.NoError(t, st.Append(t.Context(), "talk", note))
	require.Equal(t, "It will rain. I know 8 contents.", ask(t, dir, "talk", "And the day after?"))
}

// TestService has what adk-go's own services promise.
func TestService(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	ctx := t.Context()
	state := func(app, user, id string) map[string]any {
		t.Helper()
		got, err := s.Get(ctx, &session.GetRequest{AppName: app, UserID: user, SessionID: id})
		require.NoError(t, err)
		require.Equal(t, [3]string{app, user, id}, [3]string{got.Session.AppName(), got.Session.UserID(), got.Session.ID()})
		return maps.Collect(got.Session.State().All())
	}
	create := func(app, user, id string, state map[string]any) session.Session {
		t.Helper()
		made, err := s.Create(ctx, &session.CreateRequest{AppName: app, UserID: user, SessionID: id, State: state})
		require.NoError(t, err)
		return made.Session
	}
	one := create("a", "Ada ☀", "one", map[string]any{"api_key": "k", "n": 1, "app:theme": "dark", "user:name": "Ada", "temp:x": 1})
	require.Equal(t, map[string]any{"api_key": "k", "n": 1.0, "app:theme": "dark", "user:name": "Ada"}, maps.Collect(one.State().All()))
	create("a", "Ada ☀", "two", nil)
	create("a", "bob", "one", nil)
	create("a-b", "bob", "", nil)
	require.Equal(t, map[string]any{"app:theme": "dark", "user:name": "Ada"}, state("a", "Ada ☀", "two"))
	require.Equal(t, map[string]any{"app:theme": "dark"}, state("a", "bob", "one"))

	// An event changes the session that was given, and what is stored.
	at := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	for n, text := range []string{"q", "a", "more"} {
		e := &session.Event{ID: text, Author: "user", Timestamp: at.Add(time.Duration(n) * time.Hour), LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, genai.RoleUser)}}
		e.Actions.StateDelta = map[string]any{"n": n, "app:theme": text, "user:name": text, "temp:y": 2}
		require.NoError(t, s.AppendEvent(ctx, one, e))
		require.NoError(t, s.AppendEvent(ctx, one, &session.Event{LLMResponse: model.LLMResponse{Partial: true}}))
		require.NotContains(t, one.Events().At(n).Actions.StateDelta, "temp:y")
	}
	now, err := one.State().Get("temp:y")
	require.NoError(t, err)
	require.Equal(t, 2, now)
	require.Equal(t, 3, one.Events().Len())
	require.Equal(t, map[string]any{"api_key": "k", "n": 2.0, "app:theme": "more", "user:name": "more"}, state("a", "Ada ☀", "one"))
	require.Equal(t, map[string]any{"app:theme": "more"}, state("a", "bob", "one"))
	texts := func(r session.GetRequest) (texts []string) {
		r.AppName, r.UserID, r.SessionID = "a", "Ada ☀", "one"
		got, err := s.Get(ctx, &r)
		require.NoError(t, err)
		for e := range got.Session.Events().All() {
			texts = append(texts, e.Content.Parts[0].Text)
		}
		return texts
	}
	require.Equal(t, []string{"q", "a", "more"}, texts(session.GetRequest{}))
	require.Equal(t, []string{"a", "more"}, texts(session.GetRequest{NumRecentEvents: 2}))
	require.Equal(t, []string{"a", "more"}, texts(session.GetRequest{After: at.Add(time.Hour)}))

	// An append that was repeated, since its answer was lost, is one event.
	again, err := s.Get(ctx, &session.GetRequest{AppName: "a", UserID: "bob", SessionID: "one"})
	require.NoError(t, err)
	for range 2 {
		require.NoError(t, s.AppendEvent(ctx, again.Session, &session.Event{ID: "same", Author: "user", Timestamp: at}))
	}
	again, err = s.Get(ctx, &session.GetRequest{AppName: "a", UserID: "bob", SessionID: "one"})
	require.NoError(t, err)
	require.Equal(t, 1, again.Session.Events().Len())
	require.True(t, again.Session.LastUpdateTime().Equal(at))

	list := func(app, user string) (names []string) {
		all, err := s.List(ctx, &session.ListRequest{AppName: app, UserID: user})
		require.NoError(t, err)
		for _, got := range all.Sessions {
			require.Zero(t, got.Events().Len())
			names = append(names, got.UserID()+" "+got.ID())
		}
		slices.Sort(names)
		return names
	}
	require.Equal(t, []string{"Ada ☀ one", "Ada ☀ two", "bob one"}, list("a", ""))
	require.Equal(t, []string{"bob one"}, list("a", "bob"))
	require.Empty(t, list("none", ""))

	remove := &session.DeleteRequest{AppName: "a", UserID: "bob", SessionID: "one"}
	require.NoError(t, s.Delete(ctx, remove))
	require.NoError(t, s.Delete(ctx, remove))
	require.Empty(t, list("a", "bob"))
	require.ErrorIs(t, s.AppendEvent(ctx, again.Session, &session.Event{}), sessionstore.ErrNotFound)

	_, err = s.Get(ctx, &session.GetRequest{AppName: "a", UserID: "bob", SessionID: "one"})
	require.ErrorIs(t, err, sessionstore.ErrNotFound)
	_, err = s.Create(ctx, &session.CreateRequest{AppName: "a", UserID: "Ada ☀", SessionID: "one"})
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = s.Create(ctx, &session.CreateRequest{AppName: "a", UserID: "bob", SessionID: "../x"})
	require.ErrorIs(t, err, sessionstore.ErrInvalidID)
	_, err = s.Create(ctx, &session.CreateRequest{AppName: "a"})
	require.ErrorContains(t, err, "need names")
}

// TestNil asks for nothing: that is an error.
func TestNil(t *testing.T) {
	t.Parallel()
	s, _ := open(t, t.TempDir())
	made, err := s.Create(t.Context(), &session.CreateRequest{AppName: "a", UserID: "u"})
	require.NoError(t, err)
	_, err = s.Create(t.Context(), nil)
	require.Error(t, err)
	_, err = s.Get(t.Context(), nil)
	require.Error(t, err)
	_, err = s.List(t.Context(), nil)
	require.Error(t, err)
	require.Error(t, s.Delete(t.Context(), nil))
	require.Error(t, s.AppendEvent(t.Context(), nil, &session.Event{}))
	require.Error(t, s.AppendEvent(t.Context(), made.Session, nil))
	e := session.NewEvent(t.Context(), "x")
	e.Content = &genai.Content{Parts: []*genai.Part{nil, {Text: "hello"}}}
	require.NoError(t, s.AppendEvent(t.Context(), made.Session, e), "a part is nil")
}
