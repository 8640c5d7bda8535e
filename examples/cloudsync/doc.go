// Cloudsync shows how several devices work on sessions, each in a directory of its own,
// with a copy in Azure Cosmos DB: a line of 5 MB goes up and comes back, two devices go on
// without a network and nothing is lost, a third device fetches everything. It compares the
// files byte for byte, and fails if they are not the same.
//
//	go run . [-dir DIR] [-delay D] [-record FILE]
//
// Run it like this in this directory, which is a module of its own. It then
// starts a server of its own: an account in memory that answers each request
// after the time D, 20ms unless given. The devices' directories lie in DIR, or
// in a new temporary directory that it names and leaves.
//
// # A real account
//
// With COSMOS_ENDPOINT set it uses that account, in the database COSMOS_DATABASE
// and the container COSMOS_CONTAINER, "amplifier" and "sync" unless set. It signs
// in as azidentity's DefaultAzureCredential does: by the environment, a managed
// identity, or the login of the Azure CLI. With COSMOS_KEY set it uses that key.
// Database and container must exist, with the partition key /pk; with -provision they are
// made first, which takes a key or control-plane rights. The program writes under a user of
// its own name, and deletes everything at the end, except for a tombstone for each session.
//
// # Recording an account
//
// This project computes charges from published prices, not from an account's answers. With
// -record the program asks the account some twenty questions about documents, batches and
// queries, lets two devices take turns on a short session, deletes all of it again, and
// writes the answers to FILE: a line of JSON for each request, with the operation, the
// status and sub-status, the charge, the sizes of bodies and the time. The file has no name
// of an account, user or session, no key and no content. The program prints which answers
// were not the expected ones. To compare the charges with the charges of the strict server,
// record both:
//
//	COSMOS_ENDPOINT=https://… go run . -record real.jsonl
//	go run . -record strict.jsonl
//	diff <(jq -c '[.step, .op, .status, .charge]' strict.jsonl) <(jq -c '[.step, .op, .status, .charge]' real.jsonl)
//
// Where they differ by more than a few percent, the constants in
// internal/test/cosmostest/charge.go and hybrid/cosmos/prices.go are to change.
//
// # Output
//
// The output is lines of text. On a terminal a bar shows the progress while
// much is sent or fetched.
//
// Here each device syncs only when the story asks for it, so that the story is the same
// each time. Other programs leave the time to the store, which syncs in the background
// (Options.Manual is false then).
package main
