package foreign

// Count is what the files of one session of a tool hold. As JSON it is an object for
// other programs to compare with: a text or a number that the file does not have is
// null.
//
// A prompt is a text that a person typed; commands, what was typed while the model
// worked, and what the tool wrote in the user's name are none. For Codex its prompts
// are the events that repeat them, where a file has such. Calls, results, responses,
// models and usage are of the whole file with all its branches, without those of
// sub-sessions: each of these has its own Count.
type Count struct {
	Tool      Tool    `json:"tool"`
	ID        string  `json:"id"`         // of the session in the store
	ForeignID string  `json:"foreign_id"` // the tool's own; of a sub-agent without a file that of its first record
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
	LastPrompt   LastPrompt     `json:"last_prompt_sha256"`

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

// LastPrompt are the SHA-256 of the texts of the last prompts, in hexadecimal digits.
type LastPrompt struct {
	Whole  *string `json:"whole"`
	Active *string `json:"active"`
}

// CountedUsage are the tokens that the tool tells: the sums of the responses, for
// Codex its last totals, where the input has what was cached.
type CountedUsage struct {
	Input      *int64 `json:"input"`
	Output     *int64 `json:"output"`
	CacheRead  *int64 `json:"cache_read"`
	CacheWrite *int64 `json:"cache_write"`
}
