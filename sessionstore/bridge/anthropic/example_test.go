package anthropic_test

import (
	"encoding/json"
	"fmt"
	"log"

	sdk "github.com/anthropics/anthropic-sdk-go"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/anthropic"
)

func Example() {
	// A response, as the client returns it.
	var response sdk.Message
	if err := json.Unmarshal([]byte(`{"id": "msg_1", "model": "claude-sonnet-5", "content": [{"type": "text", "text": "No."}]}`), &response); err != nil {
		log.Fatal(err)
	}
	row, err := anthropic.Message(&response) // to be appended to the session
	if err != nil {
		log.Fatal(err)
	}
	question, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "Will it rain?"}`))
	if err != nil {
		log.Fatal(err)
	}
	params, report, err := anthropic.Params([]sessionstore.Message{question, row}) // for the next request
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.Content())
	fmt.Println(len(params), "messages, of which", len(report.LeftOut), "lack something")
	// Output:
	// No.
	// 2 messages, of which 0 lack something
}
