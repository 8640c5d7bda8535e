package accept_test

import (
	"fmt"
	"log"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/slice/accept"
)

// conversationOf makes messages of lines for the examples.
func conversationOf(lines ...string) (msgs []sessionstore.Message) {
	for _, line := range lines {
		m, err := sessionstore.ParseMessage([]byte(line))
		if err != nil {
			log.Fatal(err)
		}
		msgs = append(msgs, m)
	}
	return msgs
}

func ExampleCheck() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": "", "tool_calls": [{"id": "call_1", "tool": "weather", "arguments": {}}]}`,
		`{"role": "user", "content": "Well?"}`,
	)
	for _, refusal := range accept.Check(accept.OpenAIChat, msgs) {
		fmt.Println(refusal.Reason)
		fmt.Println(refusal)
	}
	// Output:
	// call_without_result
	// message 2: call "call_1": it has no result; add one that says so
}

func ExampleFix() {
	msgs := conversationOf(
		`{"role": "user", "content": "Is it raining?"}`,
		`{"role": "assistant", "content": [{"type": "thinking", "thinking": "…", "signature": null}, {"type": "text", "text": "No."}]}`,
	)
	mended, err := accept.Fix(accept.Anthropic, msgs)
	if err != nil {
		log.Fatal(err)
	}
	for _, a := range mended.Amendments {
		fmt.Println(a.Row, a.Reasons)
		fmt.Println(string(a.New.AppendTo(nil)))
	}
	// Output:
	// 1 [unsigned_thinking]
	// {"role": "assistant", "content": [{"type": "text", "text": "No."}]}
}
