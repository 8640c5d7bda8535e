package genai_test

import (
	"encoding/json"
	"fmt"
	"log"

	sdk "google.golang.org/genai"

	"github.com/amplifier-go/sessionstorage/sessionstore"
	"github.com/amplifier-go/sessionstorage/sessionstore/bridge/genai"
)

func Example() {
	// A response, as the client returns it.
	var response sdk.GenerateContentResponse
	if err := json.Unmarshal([]byte(`{"modelVersion": "gemini-3-pro", "candidates": [{"content": {"parts": [{"text": "No."}]}}]}`), &response); err != nil {
		log.Fatal(err)
	}
	row, err := genai.Message(&response) // to be appended to the session
	if err != nil {
		log.Fatal(err)
	}
	question, err := sessionstore.ParseMessage([]byte(`{"role": "user", "content": "Will it rain?"}`))
	if err != nil {
		log.Fatal(err)
	}
	contents, report, err := genai.Params([]sessionstore.Message{question, row}) // for the next request
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(row.Content())
	fmt.Println(len(contents), "contents, of which", len(report.LeftOut), "lack something")
	// Output:
	// No.
	// 2 contents, of which 0 lack something
}
