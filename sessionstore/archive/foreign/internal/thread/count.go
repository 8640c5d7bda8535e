package thread

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

	Prompts      CountedPrompts `json:"prompts"`
	AgentPrompts int            `json:"agent_prompts"` // the tasks of a sub-agent
	Queued       int            `json:"queued"`        // prompts that were typed while the model worked
	Slash        int            `json:"slash"`         // commands of the tool
	Shell        int            `json:"shell"`         // commands of a shell
	LastPrompt   lastPrompt     `json:"last_prompt_sha256"`

	Responses    int            `json:"responses"` // each once; for Codex the messages of the model
	Calls        int            `json:"calls"`
	Results      int            `json:"results"`
	NoResult     int            `json:"calls_without_result"` // without those that never have one
	SubSessions  int            `json:"sub_sessions"`
	Forks        int            `json:"forks"`  // that the import makes of branches
	Models       map[string]int `json:"models"` // responses, for Codex turns
	Usage        CountedUsage   `json:"usage"`
	UnreadLines  int            `json:"unread_lines"`
	UnknownKinds map[string]int `json:"unknown"`
}

// CountedPrompts are the prompts of a session.
type CountedPrompts struct {
	Whole  int `json:"whole"`  // of the line that goes on before compactions
	Active int `json:"active"` // of the line that the tool would resume
	All    int `json:"all"`    // of all lines
}

// lastPrompt are the SHA-256 of the texts of the last prompts, in hexadecimal digits.
type lastPrompt struct {
	Whole  *string `json:"whole"`
	Active *string `json:"active"`
}

// CountedUsage are the tokens that the tool names: the sums of the responses, for Codex its
// last totals, where the input includes cached tokens.
type CountedUsage struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
}

// CountLine counts the prompts of the conversation, and returns the last of them, -1 where
// there is none.
func (t *Table) CountLine(s Scope) (n int, last int32) {
	last = -1
	for _, at := range t.Conversation(t.Leaves(t.Roots())[0], s) {
		if t.Records.At(at).Is(IsPrompt) {
			n, last = n+1, at
		}
	}
	return n, last
}

// CountResponses counts responses, each once.
func (t *Table) CountResponses(mine func(at int32) bool) (n int) {
	last, seen := uint64(0), false
	for _, at := range t.byKey {
		r := t.Records.At(at)
		if r.UUID == 0 || !mine(at) || seen && r.Key == last {
			continue
		}
		last, seen = r.Key, true
		n++
	}
	return n
}

// CountCalls counts calls and results, each id once, and the calls that have no
// result.
func (t *Table) CountCalls(mine func(at int32) bool) (calls, results, without int) {
	each := func(all []result, count func(call uint64)) {
		for i := 0; i < len(all); {
			call, found := all[i].call, false
			for ; i < len(all) && all[i].call == call; i++ {
				found = found || mine(all[i].at) && !t.Records.At(all[i].at).Is(IsRepeated)
			}
			if found {
				count(call)
			}
		}
	}
	each(t.results, func(uint64) { results++ })
	each(t.Calls, func(call uint64) {
		calls++
		if len(t.ResultsOf(call)) == 0 {
			without++
		}
	})
	return calls, results, without
}
