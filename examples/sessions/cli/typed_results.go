package cli

import (
	"encoding/json"
	"path/filepath"

	"github.com/amplifier-go/sessionstorage/sessionstore/projects"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice"
)

// showTyped answers show. Metadata and messages are as they are stored.
func (a *app) showTyped(t target, s *shown, transcript bool) error {
	summary, err := a.projectSummary(t.dir())
	if err != nil {
		return err
	}
	session, err := encoded(sessionOf(summary, t.dir()))
	if err != nil {
		return err
	}
	item := object{{"session_id", quoted(t.id)}, {"session", session}, {"metadata", s.Metadata.AppendTo(nil)}}
	if transcript {
		return a.writeRows(append(item, member{"transcript", list{}.raw()}), s.rows)
	}
	return a.writeJSON(item, jsonIndent)
}

// projectSummary is the summary of the session in a directory.
func (a *app) projectSummary(dir string) (projects.Summary, error) {
	s, err := a.summaryIn(dir)
	return projects.Summary{Project: filepath.Base(filepath.Dir(filepath.Dir(dir))), Summary: s}, err
}

// foundTyped answers find.
func (a *app) foundTyped(found []projects.Found) error {
	all := []typedSession{}
	for _, f := range found {
		s, err := a.projectSummary(f.Dir)
		if err != nil {
			return err
		}
		all = append(all, sessionOf(s, f.Dir))
	}
	return a.writeJSON(all, jsonIndent)
}

// typedInfo is the answer of info.
type typedInfo struct {
	ID      string   `json:"session_id"`
	Path    string   `json:"path"`
	Project string   `json:"project"`
	Created *string  `json:"created"`
	Bundle  *string  `json:"bundle"`
	Model   *string  `json:"model"`
	Turns   int      `json:"turns"`
	Status  string   `json:"status"`
	Modes   []string `json:"failure_modes"`
}

func infoOf(info slice.Info, md sessionstore.Metadata) typedInfo {
	bundle, _ := md.Bundle()
	created, _ := md.Created()
	return typedInfo{
		ID: info.SessionID, Path: info.Path, Project: info.Project, Created: moment(created), Bundle: known(bundle),
		Model: known(md.Text("model")), Turns: info.Turns, Status: info.Status, Modes: append([]string{}, info.Modes...),
	}
}

// typedMatches is a session of search, with its matches.
type typedMatches struct {
	ID      string       `json:"session_id"`
	Project string       `json:"project"`
	Path    string       `json:"path"`
	Created *string      `json:"created"`
	Matches []typedMatch `json:"matches"`
}

type typedMatch struct {
	Message int    `json:"message"` // from 1
	Role    string `json:"role"`
	Before  string `json:"before"`
	Text    string `json:"text"` // the match; "" in a message of the context
	After   string `json:"after"`
	Context bool   `json:"context"`
}

func matchesOf(found []projects.Found, hits map[string][]hit) []typedMatches {
	all := []typedMatches{}
	for _, f := range found {
		one := typedMatches{f.ID, f.Project, f.Dir, moment(f.Created), []typedMatch{}}
		for _, h := range hits[f.Dir] {
			one.Matches = append(one.Matches, typedMatch{h.message, h.role, h.before, h.text, h.after, h.context})
		}
		all = append(all, one)
	}
	return all
}

// typedUsage is the answer of stats.
type typedUsage struct {
	By   string     `json:"by"`
	Rows []typedRow `json:"rows"`
}

type typedRow struct {
	Key        *string `json:"key"` // a day, model, project or session; null: unknown
	Responses  int     `json:"responses"`
	Failed     int     `json:"failed"`
	Input      int64   `json:"input_tokens"`
	CacheRead  int64   `json:"cache_read_tokens"`
	CacheWrite int64   `json:"cache_write_tokens"`
	Output     int64   `json:"output_tokens"`
	Reasoning  int64   `json:"reasoning_tokens"`
	Tools      int     `json:"tool_calls"`
	Seconds    float64 `json:"seconds"`
	Cost       *string `json:"cost_usd"` // a decimal number as text, which loses no digit; null: no response has it
	Exact      bool    `json:"exact"`
}

func usageOf(by string, all []sum) typedUsage {
	answer := typedUsage{by, []typedRow{}}
	for _, s := range all {
		r := typedRow{
			Key: known(s.key), Responses: s.Responses, Failed: s.Failed, Input: s.Input, CacheRead: s.CacheRead, CacheWrite: s.CacheWrite,
			Output: s.Output, Reasoning: s.Reasoning, Tools: s.Tools, Seconds: s.Time.Seconds(), Exact: s.Exact,
		}
		if s.Priced > 0 {
			r.Cost = &s.Cost
		}
		answer.Rows = append(answer.Rows, r)
	}
	return answer
}

// typedState is a session of status.
type typedState struct {
	Project string  `json:"project"`
	ID      string  `json:"session_id"`
	State   string  `json:"state"`
	Local   int     `json:"local"`
	Remote  int     `json:"remote"`
	NextTry *string `json:"next_try"`
	Error   *string `json:"error"`
}

func statesOf(all []stateShown) []typedState {
	states := []typedState{}
	for _, s := range all {
		states = append(states, typedState{s.Project, s.Session, s.State, s.Local, s.Remote, known(s.NextTry), known(s.Error)})
	}
	return states
}

// typedDecision is a line of decisions.
type typedDecision struct {
	Kind string  `json:"kind"`
	Time *string `json:"time"`
	What *string `json:"what"`
	Text *string `json:"text"`
}

func decisionsOf(all []decided) []typedDecision {
	decisions := []typedDecision{}
	for _, d := range all {
		decisions = append(decisions, typedDecision{d.kind, moment(d.at), known(d.what), known(d.text)})
	}
	return decisions
}

// typedResume is the answer of resume.
type typedResume struct {
	ID       string  `json:"session_id"`
	Path     string  `json:"path"`
	Bundle   *string `json:"bundle"`
	Model    *string `json:"model"`
	Messages int     `json:"messages"`
	judgedAs
}

// judgedAs is a [judgement] as JSON.
type judgedAs struct {
	Refused   json.RawMessage `json:"refused"` // by provider: why it would not take the conversation
	NotJudged []string        `json:"not_judged"`
}

func (j judgement) typed() judgedAs { return judgedAs{j.refusals(), j.open} }

// typedDiagnosis is the answer of diagnose.
type typedDiagnosis struct {
	slice.Diagnosis
	judgedAs
}

func resumableOf(t target, s *sessionstore.Session, bundle string) typedResume {
	return typedResume{t.id, t.dir(), known(bundle), known(s.Metadata.Text("model")), len(s.Messages), judge(s.Messages).typed()}
}
