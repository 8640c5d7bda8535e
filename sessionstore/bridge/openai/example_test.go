package openai_test

import (
	"encoding/json"
	"fmt"
	"log"

	"github.com/openai/openai-go/v3/responses"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/openai"
)

func Example() {
	// A response, as the client returns it.
	var response responses.Response
	if err := json.Unmarshal([]byte(`{"id": "resp_1", "model": "gpt-5.5", "output": [{"type": "message", "id": "msg_1", "role": "assistant", "content": [{"type": "output_text", "text": "No."}]}]}`), &response); err != nil {
		log.Fatal(err)
	}
	row, err := openai.Message(&response) // to be appended to the session
	if err != nil {
		log.Fatal(err)
	}
	question, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "Will it rain?"}`))
	if err != nil {
		log.Fatal(err)
	}
	input, report, err := openai.Params([]sessionstore.Message{question, row}) // for the next request
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.Content())
	fmt.Println(len(input), "items, of which", len(report.LeftOut), "lack something")
	// Output:
	// No.
	// 2 items, of which 0 lack something
}
