package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	openai "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/responses"
	gemini "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/eventslog"
	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/agentstate"
	toanthropic "github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
	togemini "github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
	toopenai "github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
	"github.com/amplifier-go/sessionstorage/sessionstore/turn"
	"github.com/amplifier-go/sessionstorage/slice"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// model is a model of a provider.
type model struct {
	provider accept.Provider
	key      string // the variable that has the key of the account
	name     string
	// ask returns the answer to a conversation, and the event of its tokens, if it took any. It calls say with pieces of text as they come.
	ask func(ctx context.Context, name string, sent []sessionstore.Message, say func(string) error) (sessionstore.Message, eventslog.Event, error)
}

var providers = map[string]model{
	"anthropic": {provider: accept.Anthropic, key: "ANTHROPIC_API_KEY", ask: askAnthropic},
	"openai":    {provider: accept.OpenAIResponses, key: "OPENAI_API_KEY", ask: askOpenAI},
	"gemini":    {provider: accept.Gemini, key: "GEMINI_API_KEY", ask: askGemini},
}

// modelOf returns the model of the flag -model: PROVIDER:NAME, or "" for answers that are made up.
func modelOf(flag string) (*model, error) {
	if flag == "" {
		return &model{ask: makeUp}, nil
	}
	provider, name, _ := strings.Cut(flag, ":")
	m, found := providers[provider]
	switch {
	case !found || name == "":
		return nil, fmt.Errorf("-model %q: want anthropic:NAME, openai:NAME or gemini:NAME", flag)
	case os.Getenv(m.key) == "":
		return nil, fmt.Errorf("-model %s: set %s to the key of your account", flag, m.key)
	}
	m.name = name
	return &m, nil
}

// converse answers a question in the terminal. Without one it goes on with the turn that was
// interrupted; with one, what that turn had said is its answer.
func (m *model) converse(ctx context.Context, out io.Writer, st *sessionstore.Store, id, question string) error {
	options := &turn.Options{Approve: approve}
	t, err := turn.Resume(ctx, st, id, options)
	if question != "" {
		switch {
		case err == nil:
			err = errors.Join(t.Say(t.Draft().Text), t.End(ctx))
		case errors.Is(err, turn.ErrNoTurn) || errors.Is(err, sessionstore.ErrNotFound):
			err = nil
		}
		asked, bad := sessionstore.Text("user", question, time.Now())
		if err = errors.Join(err, bad); err == nil {
			t, err = turn.Begin(ctx, st, id, asked, options)
		}
	}
	if err != nil {
		return err
	}
	defer t.Close()
	open, err := t.Calls(ctx)
	if err == nil {
		err = m.answer(ctx, terminal{t, out}, st, id, ".", open...)
	}
	if err == nil {
		err = t.End(ctx)
	}
	return err
}

// A turning is a turn in a terminal or of an editor.
type turning interface {
	Say(piece string) error
	Step(ctx context.Context, row sessionstore.Message) error
	Call(ctx context.Context, call sessionstore.ToolCall, run turn.Run) (sessionstore.Message, error)
}

// answer has the model answer the prompt of a turn, with the tools that the user allows. open
// are calls that an earlier run left.
func (m *model) answer(ctx context.Context, t turning, st *sessionstore.Store, id, dir string, open ...sessionstore.ToolCall) error {
	events, err := eventslog.Open(filepath.Join(st.Dir(), id), nil)
	if err != nil {
		return err
	}
	defer events.Close()
	for {
		for _, call := range open {
			if _, err := t.Call(ctx, call, lists(dir)); err != nil {
				return err
			}
		}
		history, err := slice.ResumeWindow(ctx, st, id, 25) // the last turns, of a session of any size
		if err != nil {
			return err
		}
		sent, err := accept.Fix(m.provider, history) // what another provider takes, or a kill left
		if err != nil {
			return err
		}
		row, used, err := m.ask(ctx, m.name, sent.Messages, t.Say)
		if err != nil {
			return err
		}
		if err = t.Step(ctx, row); err == nil && used.Name != "" {
			err = events.Append(ctx, used) // which `sessions stats` sums up
		}
		if err != nil {
			return err
		}
		if open = row.ToolCalls(); len(open) == 0 {
			return nil
		}
	}
}

// The tool of the agent has no arguments.
const toolName, toolDoes = "list_files", "Lists the files of the working directory."

// lists returns what lists the files of a directory.
func lists(dir string) turn.Run {
	return func(_ context.Context, call sessionstore.ToolCall) (sessionstore.Message, error) {
		names, _ := filepath.Glob(filepath.Join(dir, "*")) // a directory of an odd name lists nothing
		return sessionstore.ToolResult(call.ID, call.Name, strings.Join(names, "\n"), time.Now())
	}
}

// terminal is a turn whose pieces are printed.
type terminal struct {
	*turn.Turn
	out io.Writer
}

func (t terminal) Say(piece string) error {
	fmt.Fprint(t.out, piece)
	return t.Turn.Say(piece)
}

// approve asks in the terminal.
func approve(_ context.Context, call sessionstore.ToolCall) (agentstate.Verdict, error) {
	fmt.Fprintf(os.Stderr, "\nallow %s %s? y or n: ", call.Name, call.Arguments)
	said := ""
	if _, err := fmt.Scanln(&said); err != nil {
		return agentstate.Undecided, err
	}
	if said == "y" {
		return agentstate.Approved, nil
	}
	return agentstate.Rejected, nil
}

// makeUp takes the place of a model. To the prompt "list" it calls the tool first.
func makeUp(_ context.Context, _ string, sent []sessionstore.Message, say func(string) error) (row sessionstore.Message, used eventslog.Event, err error) {
	n := len(sent) - 1
	for n > 0 && sent[n].Role() != "user" {
		n--
	}
	if n == len(sent)-1 && sent[n].Content() == "list" {
		row, err = sessionstore.ToolCallMessage("I look.", time.Now(), sessionstore.ToolCall{ID: sessionstore.NewID(), Name: toolName})
		return row, used, err
	}
	text := fmt.Sprintf("You asked %q; I know %d messages before that.", sent[n].Content(), n)
	for word := range strings.SplitAfterSeq(text, " ") {
		err = errors.Join(err, say(word))
	}
	row, bad := sessionstore.Text("assistant", text, time.Now())
	return row, used, errors.Join(err, bad)
}

func askAnthropic(ctx context.Context, name string, sent []sessionstore.Message, say func(string) error) (row sessionstore.Message, used eventslog.Event, err error) {
	messages, report, err := toanthropic.Params(sent)
	request := anthropic.MessageNewParams{Model: name, MaxTokens: 8192, Messages: messages, Tools: []anthropic.ToolUnionParam{
		{OfTool: &anthropic.ToolParam{Name: toolName, Description: anthropic.String(toolDoes)}},
	}}
	for _, text := range report.System {
		request.System = append(request.System, anthropic.TextBlockParam{Text: text})
	}
	if err != nil {
		return row, used, err
	}
	client, whole, begun := anthropic.NewClient(), anthropic.Message{}, time.Now()
	stream := client.Messages.NewStreaming(ctx, request)
	for err == nil && stream.Next() {
		err = errors.Join(whole.Accumulate(stream.Current()), say(stream.Current().Delta.Text))
	}
	if err = errors.Join(err, stream.Err()); err != nil {
		return row, used, err
	}
	row, err = toanthropic.Message(&whole)
	return row, toanthropic.Event(&whole, time.Since(begun)), err
}

func askOpenAI(ctx context.Context, name string, sent []sessionstore.Message, say func(string) error) (row sessionstore.Message, used eventslog.Event, err error) {
	input, report, err := toopenai.Params(sent)
	if err != nil {
		return row, used, err
	}
	client, whole, begun := openai.NewClient(), (*responses.Response)(nil), time.Now()
	stream := client.Responses.NewStreaming(ctx, responses.ResponseNewParams{
		Model: name, Input: responses.ResponseNewParamsInputUnion{OfInputItemList: input}, Instructions: openai.String(strings.Join(report.System, "\n\n")),
		Store: openai.Bool(false), Include: []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent},
		Tools: []responses.ToolUnionParam{{OfFunction: &responses.FunctionToolParam{Name: toolName, Description: openai.String(toolDoes), Parameters: map[string]any{"type": "object", "properties": map[string]any{}}}}},
	})
	for err == nil && stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			err = say(e.Delta)
		case "response.completed", "response.incomplete", "response.failed":
			whole = &e.Response
		}
	}
	if err = errors.Join(err, stream.Err()); err != nil {
		return row, used, err
	}
	row, err = toopenai.Message(whole)
	return row, toopenai.Event(whole, time.Since(begun)), err
}

func askGemini(ctx context.Context, name string, sent []sessionstore.Message, say func(string) error) (row sessionstore.Message, used eventslog.Event, err error) {
	contents, report, err := togemini.Params(sent)
	if err != nil {
		return row, used, err
	}
	client, err := gemini.NewClient(ctx, &gemini.ClientConfig{APIKey: os.Getenv("GEMINI_API_KEY"), Backend: gemini.BackendGeminiAPI})
	if err != nil {
		return row, used, err
	}
	config := &gemini.GenerateContentConfig{Tools: []*gemini.Tool{{FunctionDeclarations: []*gemini.FunctionDeclaration{{Name: toolName, Description: toolDoes}}}}}
	if len(report.System) > 0 {
		config.SystemInstruction = gemini.NewContentFromText(strings.Join(report.System, "\n\n"), gemini.RoleUser)
	}
	var all []*gemini.GenerateContentResponse
	begun, last := time.Now(), (*gemini.GenerateContentResponse)(nil) // the last has the tokens of all
	for response, err := range client.Models.GenerateContentStream(ctx, name, contents, config) {
		if err == nil && len(response.Candidates) > 0 && response.Candidates[0].Content != nil {
			for _, part := range response.Candidates[0].Content.Parts {
				if !part.Thought {
					err = errors.Join(err, say(part.Text))
				}
			}
		}
		if err != nil {
			return row, used, err
		}
		all, last = append(all, response), response
	}
	row, err = togemini.Message(all...)
	return row, togemini.Event(last, time.Since(begun)), err
}
