// Package count counts the contents of the files of a session of a tool.
package count

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"

	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/codex"
	"github.com/amplifier-go/sessionstorage/sessionstore/archive/foreign/internal/thread"
)

// Count counts the contents of the files of one session of a tool. As JSON it is an object
// for other programs to compare with: a text or a number that the file does not have is
// null.
//
// A prompt is a text that a person typed; commands, texts typed while the model worked, and
// texts that the tool wrote in the user's name are none. For Codex its prompts are the
// events that repeat them, where a file has such. Calls, results, responses, models and
// usage are of the whole file with all its branches. Sub-sessions do not count here: each
// has its own count.
type Count struct {
	Tool      string  `json:"tool"`
	ID        string  `json:"id"`         // of the session in the store
	ForeignID string  `json:"foreign_id"` // the tool's own id; for a sub-agent without a file the id of its first record
	Parent    *string `json:"parent"`     // id of the session that began it or that it was forked from
	File      string  `json:"file"`
	Dir       *string `json:"cwd"`   // the first that the file names
	First     *string `json:"first"` // the earliest and the latest time of a line, as the file has them
	Last      *string `json:"last"`

	Prompts      Prompts    `json:"prompts"`
	AgentPrompts int        `json:"agent_prompts"` // the tasks of a sub-agent
	Queued       int        `json:"queued"`        // prompts that were typed while the model worked
	Slash        int        `json:"slash"`         // commands of the tool
	Shell        int        `json:"shell"`         // commands of a shell
	LastPrompt   lastPrompt `json:"last_prompt_sha256"`

	Responses    int            `json:"responses"` // each once; for Codex the messages of the model
	Calls        int            `json:"calls"`
	Results      int            `json:"results"`
	NoResult     int            `json:"calls_without_result"` // without those that never have one
	SubSessions  int            `json:"sub_sessions"`
	Forks        int            `json:"forks"`  // that the import makes of branches
	Models       map[string]int `json:"models"` // responses, for Codex turns
	Usage        Usage          `json:"usage"`
	UnreadLines  int            `json:"unread_lines"`
	UnknownKinds map[string]int `json:"unknown"`
}

// Prompts are the prompts of a session.
type Prompts struct {
	Whole  int `json:"whole"`  // of the line that goes on before compactions
	Active int `json:"active"` // of the line that the tool would resume
	All    int `json:"all"`    // of all lines
}

// lastPrompt are the SHA-256 of the texts of the last prompts, in hexadecimal digits.
type lastPrompt struct {
	Whole  *string `json:"whole"`
	Active *string `json:"active"`
}

// Usage are the tokens that the tool names: the sums of the responses, for Codex its
// last totals, where the input includes cached tokens.
type Usage struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
}

// Counts are the counts of the sessions of one history.
type Counts []Count

// Add counts a session that an import found, also with its parent. Its file must be open.
func (all *Counts) Add(s thread.Found) error {
	c, err := countOf(s)
	if err != nil {
		return err
	}
	for i := range *all {
		if one := &(*all)[i]; s.Parent != "" && one.ID == s.Parent {
			one.SubSessions++
		}
	}
	*all = append(*all, c)
	return nil
}

// countOf counts the records of a session, without the records of sub-sessions.
func countOf(s thread.Found) (c Count, err error) {
	f := s.File
	facts := &f.Table.Facts
	c = Count{
		Tool: f.Tool.Name(), ID: s.ID, ForeignID: cmp.Or(s.Foreign, f.ID), Parent: textOrNull(s.Parent), File: s.Path, Dir: textOrNull(f.Table.Dir),
		First: textOrNull(facts.FirstText), Last: textOrNull(facts.LastText), Forks: s.Forks, Models: map[string]int{}, UnknownKinds: map[string]int{},
	}
	if s.Beside {
		first, last, err := times(s)
		if err != nil {
			return c, err
		}
		c.First, c.Last = textOrNull(first), textOrNull(last)
	} else {
		c.UnreadLines = facts.Unread
		maps.Copy(c.UnknownKinds, facts.Unknown)
	}
	count := c.claude
	if f.Tool == (codex.Tool{}) {
		count = c.codex
	}
	whole, active := count(s)
	if c.LastPrompt.Whole, err = promptHash(f, whole); err == nil {
		c.LastPrompt.Active, err = promptHash(f, active)
	}
	return c, err
}

// times returns the earliest and the latest time of the records of a session.
func times(s thread.Found) (first, last string, err error) {
	facts := thread.Facts{}
	for i := range s.File.Table.Records.All() {
		if !s.Mine(int32(i)) {
			continue
		}
		p, err := s.File.Part(int32(i))
		if err != nil {
			return "", "", err
		}
		facts.Time(p.Time())
	}
	return facts.FirstText, facts.LastText, nil
}

// promptHash returns the hash of the text of a prompt, nil where there is none.
func promptHash(f *thread.File, at int32) (*string, error) {
	if at < 0 {
		return nil, nil
	}
	p, err := f.Part(at)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256([]byte(p.Prompt()))
	return textOrNull(hex.EncodeToString(sum[:])), nil
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

// codex counts the records of a file of Codex, and returns the last prompts of both lines,
// -1 where there is none.
func (c *Count) codex(s thread.Found) (whole, active int32) {
	facts := codex.FactsOf(s.File.Format)
	prompts := facts.Prompts
	if prompts.All == 0 {
		prompts = facts.Typed
	}
	c.Prompts = Prompts{Whole: len(prompts.On), Active: len(prompts.On), All: prompts.All}
	if s.Agent {
		c.AgentPrompts = prompts.All
	}
	c.Shell, c.Responses, c.Calls, c.Results = facts.Shell, facts.Responses, facts.Calls, facts.Results
	for _, call := range facts.Pending {
		if len(s.File.Table.ResultsOf(call)) == 0 {
			c.NoResult++
		}
	}
	maps.Copy(c.Models, facts.Turns)
	none := int64(0)
	c.Usage = Usage{Input: facts.Total[0], Output: facts.Total[1], CacheRead: facts.Total[2], CacheWrite: &none}
	if len(prompts.On) == 0 {
		return -1, -1
	}
	last := prompts.On[len(prompts.On)-1]
	return last, last
}

// claude is codex for a file of another tool.
func (c *Count) claude(s thread.Found) (whole, active int32) {
	t := s.File.Table
	responses := map[uint64]bool{}
	for i, r := range t.Records.All() {
		if r.UUID == 0 || !s.Mine(int32(i)) {
			continue
		}
		if r.Is(thread.IsAssistant) && !r.Is(thread.IsByTool) {
			responses[r.Key] = true
		}
		if r.Is(thread.IsRepeated) {
			continue
		}
		for f, n := range map[thread.Flags]*int{thread.IsPrompt: &c.Prompts.All, thread.IsQueued: &c.Queued, thread.IsSlash: &c.Slash, thread.IsShell: &c.Shell} {
			if r.Is(f) {
				*n++
			}
		}
	}
	c.Responses = len(responses)
	c.calls(s)
	for _, spent := range t.Facts.Spent {
		if s.Mine(spent.At) {
			c.spend(&t.Facts, spent)
		}
	}
	if s.Agent {
		c.AgentPrompts, c.Prompts = c.Prompts.All, Prompts{}
		c.Queued, c.Slash, c.Shell = 0, 0, 0
		return -1, -1
	}
	c.Prompts.Whole, whole = line(t, thread.WholeLine)
	c.Prompts.Active, active = line(t, thread.ActiveLine)
	return whole, active
}

// calls counts calls and results, each id once, and the calls that have no result.
func (c *Count) calls(s thread.Found) {
	t := s.File.Table
	counts := func(at int32) bool { return s.Mine(at) && !t.Records.At(at).Is(thread.IsRepeated) }
	calls, results := map[uint64]bool{}, map[uint64]bool{}
	for _, r := range t.Calls {
		if counts(r.At) {
			calls[r.Of] = true
		}
	}
	for _, r := range t.Results {
		if counts(r.At) {
			results[r.Of] = true
		}
	}
	c.Calls, c.Results = len(calls), len(results)
	for call := range calls {
		if len(t.ResultsOf(call)) == 0 {
			c.NoResult++
		}
	}
}

// spend counts the usage of a response.
func (c *Count) spend(f *thread.Facts, s thread.Spent) {
	if s.Model > 0 {
		c.Models[f.Models[s.Model-1]]++
	}
	u := &c.Usage
	for i, sum := range []**int64{&u.Input, &u.Output, &u.CacheRead, &u.CacheWrite} {
		if s.Has&(1<<i) == 0 {
			continue
		}
		if *sum == nil {
			*sum = new(int64)
		}
		**sum += int64(s.Tokens[i])
	}
}

// line counts the prompts of the conversation, and returns the last of them, -1 where there
// is none.
func line(t *thread.Table, s thread.Scope) (n int, last int32) {
	last = -1
	for _, at := range t.Conversation(t.Leaves(t.Roots())[0], s) {
		if t.Records.At(at).Is(thread.IsPrompt) {
			n, last = n+1, at
		}
	}
	return n, last
}
