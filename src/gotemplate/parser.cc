// SPDX-License-Identifier: Apache-2.0
#include "gotemplate/parser.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <vector>

#include "gotext/quote.h"
#include "gotext/unicode.h"

namespace pintle::gotemplate {
namespace {

std::vector<std::string> SplitAtDots(std::string_view text) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t dot = text.find('.');
    parts.emplace_back(text.substr(0, dot));
    if (dot == std::string_view::npos) return parts;
    text.remove_prefix(dot + 1);
  }
}

// Returns whether a tree prints only white space.
bool IsEmpty(const ListNode& list) {
  return std::all_of(list.nodes.begin(), list.nodes.end(), [](const Node* node) {
    return node->type == NodeType::kText && gotext::IsBlank(static_cast<const TextNode*>(node)->text);
  });
}

// Parses one tree.  A {{block}} and each {{define}} get a parser of their own, because their variables and loops are
// separate from those around them.
class TreeParser {
 public:
  explicit TreeParser(TemplateParser& shared) : shared_(shared) {}

  // Parses the whole source.
  Result<> ParseAll();

 private:
  struct ListAndEnd {
    const ListNode* list;
    const Node* end;  // The {{end}} or {{else}}.
  };

  Token Next();
  Token Peek();
  Token NextNonSpace();
  Token PeekNonSpace();
  void PutBack() { ++put_back_; }
  void PutBack(Token before);
  void PutBack(Token first, Token second);

  Error Fail(std::string_view error) const;
  Error Unexpected(const Token& token, std::string_view context) const;
  Result<Token> Expect(TokenType type, std::string_view context);

  Result<> ParseDefinition();
  Result<const Node*> ParseTextOrAction();
  Result<const Node*> ParseAction();
  Result<const Node*> ParseLoopWord(NodeType type, std::size_t position, std::string_view word);
  Result<ListAndEnd> ParseList();
  Result<const Node*> ParseControl(NodeType type, std::string_view context);
  Result<const ListNode*> ParseElse(NodeType type, const Node& else_node);
  Result<const Node*> ParseElseWord();
  Result<const Node*> ParseBlock();
  Result<const Node*> ParseTemplate();
  Result<std::string> TemplateName(const Token& token, std::string_view context);
  Result<const PipeNode*> ParsePipeline(std::string_view context, TokenType end);
  Result<> ParseVariables(PipeNode& pipe, std::string_view context);
  Result<> CheckPipeline(const PipeNode& pipe, std::string_view context);
  Result<const CommandNode*> ParseCommand();
  Result<const Node*> ParseOperand();
  Result<const Node*> ParseTerm();
  Result<const Node*> ParseNumber(const Token& token);
  Result<const Node*> UseVariable(const Token& token);
  Result<> Add(std::string_view name, const ListNode* tree);

  TemplateParser& shared_;
  std::array<Token, 3> tokens_;  // The last tokens, which can be put back; tokens_[0] was read last.
  std::size_t put_back_ = 0;
  std::size_t action_line_ = 0;                 // The line on which the present action begins; 0 outside of actions.
  std::size_t loops_ = 0;                       // The number of loops around the present action.
  std::vector<std::string> variables_ = {"$"};  // The variables that exist at this place.
};

// Counts a level of nesting while it is being parsed.
class Level {
 public:
  explicit Level(TemplateParser& parser) : parser_(parser), is_allowed_(parser.Enter()) {}
  ~Level() { parser_.Leave(); }
  Level(const Level&) = delete;
  Level& operator=(const Level&) = delete;
  bool is_allowed() const { return is_allowed_; }

 private:
  TemplateParser& parser_;
  const bool is_allowed_;
};

Token TreeParser::Next() {
  if (put_back_ > 0) {
    --put_back_;
  } else {
    tokens_[0] = shared_.lexer().Next();
  }
  return tokens_[put_back_];
}

Token TreeParser::Peek() {
  if (put_back_ > 0) return tokens_[put_back_ - 1];
  put_back_ = 1;
  return tokens_[0] = shared_.lexer().Next();
}

Token TreeParser::NextNonSpace() {
  Token token = Next();
  while (token.type == TokenType::kSpace) token = Next();
  return token;
}

Token TreeParser::PeekNonSpace() {
  const Token token = NextNonSpace();
  PutBack();
  return token;
}

// Puts back the last token, and `before`, which came before it.
void TreeParser::PutBack(Token before) {
  tokens_[1] = before;
  put_back_ = 2;
}

// Puts back the last three tokens.  `first` and `second` came before the last one.
void TreeParser::PutBack(Token first, Token second) {
  tokens_[1] = second;
  tokens_[2] = first;
  put_back_ = 3;
}

Error TreeParser::Fail(std::string_view error) const {
  return Error(ErrorKind::kInvalid, fmt::format("template: {}:{}: {}", shared_.name(), tokens_[0].line, error));
}

Error TreeParser::Unexpected(const Token& token, std::string_view context) const {
  if (token.type != TokenType::kError) return Fail(fmt::format("unexpected {} in {}", FormattedToken(token), context));
  if (action_line_ == 0 || action_line_ == token.line) return Fail(token.text);
  return Fail(fmt::format("{}{} started at {}:{}", token.text, token.text.ends_with(" action") ? "" : " in action",
                          shared_.name(), action_line_));
}

Result<Token> TreeParser::Expect(TokenType type, std::string_view context) {
  const Token token = NextNonSpace();
  if (token.type != type) return Unexpected(token, context);
  return token;
}

Result<> TreeParser::ParseAll() {
  ListNode* const root = shared_.Make<ListNode>(Peek().position);
  while (Peek().type != TokenType::kEnd) {
    if (Peek().type == TokenType::kLeftDelimiter) {
      const Token delimiter = Next();
      if (NextNonSpace().type == TokenType::kDefineKeyword) {
        TRY(TreeParser(shared_).ParseDefinition());
        continue;
      }
      PutBack(delimiter);
    }
    const Node* const node = TRY(ParseTextOrAction());
    if (node->type == NodeType::kEnd || node->type == NodeType::kElse) return Fail("unexpected " + SourceOf(*node));
    root->nodes.push_back(node);
  }
  return Add(shared_.name(), root);
}

Result<> TreeParser::Add(std::string_view name, const ListNode* tree) {
  if (shared_.Add(name, tree)) return {};
  return Fail("template: multiple definition of template " + gotext::Quoted(name));
}

Result<> TreeParser::ParseDefinition() {
  constexpr std::string_view kContext = "define clause";
  const std::string name = TRY(TemplateName(NextNonSpace(), kContext));
  TRY(Expect(TokenType::kRightDelimiter, kContext));
  const ListAndEnd parsed = TRY(ParseList());
  if (parsed.end->type != NodeType::kEnd) {
    return Fail(fmt::format("unexpected {} in {}", SourceOf(*parsed.end), kContext));
  }
  return Add(name, parsed.list);
}

Result<TreeParser::ListAndEnd> TreeParser::ParseList() {
  const Level level(shared_);
  if (!level.is_allowed()) return Fail("actions are nested too deeply");
  ListNode* const list = shared_.Make<ListNode>(PeekNonSpace().position);
  while (PeekNonSpace().type != TokenType::kEnd) {
    const Node* const node = TRY(ParseTextOrAction());
    if (node->type == NodeType::kEnd || node->type == NodeType::kElse) return ListAndEnd{list, node};
    list->nodes.push_back(node);
  }
  return Fail("unexpected EOF");
}

Result<const Node*> TreeParser::ParseTextOrAction() {
  const Token token = NextNonSpace();
  if (token.type == TokenType::kText) return shared_.Make<TextNode>(token.position, token.text);
  if (token.type != TokenType::kLeftDelimiter) return Unexpected(token, "input");
  action_line_ = token.line;
  const Node* const node = TRY(ParseAction());
  action_line_ = 0;
  return node;
}

Result<const Node*> TreeParser::ParseAction() {
  const Token token = NextNonSpace();
  switch (token.type) {
    case TokenType::kBlockKeyword:
      return ParseBlock();
    case TokenType::kBreakKeyword:
      return ParseLoopWord(NodeType::kBreak, token.position, "{{break}}");
    case TokenType::kContinueKeyword:
      return ParseLoopWord(NodeType::kContinue, token.position, "{{continue}}");
    case TokenType::kElseKeyword:
      return ParseElseWord();
    case TokenType::kEndKeyword: {
      const Token end = TRY(Expect(TokenType::kRightDelimiter, "end"));
      return shared_.Make<WordNode>(NodeType::kEnd, end.position);
    }
    case TokenType::kIfKeyword:
      return ParseControl(NodeType::kIf, "if");
    case TokenType::kRangeKeyword:
      return ParseControl(NodeType::kRange, "range");
    case TokenType::kTemplateKeyword:
      return ParseTemplate();
    case TokenType::kWithKeyword:
      return ParseControl(NodeType::kWith, "with");
    default:
      break;
  }
  PutBack();
  const std::size_t position = Peek().position;
  const PipeNode* const pipe = TRY(ParsePipeline("command", TokenType::kRightDelimiter));
  return shared_.Make<ActionNode>(position, pipe);
}

Result<const Node*> TreeParser::ParseLoopWord(NodeType type, std::size_t position, std::string_view word) {
  const Token token = NextNonSpace();
  if (token.type != TokenType::kRightDelimiter) return Unexpected(token, word);
  if (loops_ == 0) return Fail(fmt::format("{} outside {{{{range}}}}", word));
  return shared_.Make<WordNode>(type, position);
}

// "{{else if" means "{{else}}{{if" but has no {{end}} of its own.  The word `if` or `with` is left for ParseElse().
Result<const Node*> TreeParser::ParseElseWord() {
  const Token next = PeekNonSpace();
  if (next.type == TokenType::kIfKeyword || next.type == TokenType::kWithKeyword) {
    return shared_.Make<WordNode>(NodeType::kElse, next.position);
  }
  const Token end = TRY(Expect(TokenType::kRightDelimiter, "else"));
  return shared_.Make<WordNode>(NodeType::kElse, end.position);
}

Result<const Node*> TreeParser::ParseControl(NodeType type, std::string_view context) {
  const std::size_t variables = variables_.size();
  const PipeNode* const pipe = TRY(ParsePipeline(context, TokenType::kRightDelimiter));
  BranchNode* const branch = shared_.Make<BranchNode>(type, pipe->position);
  branch->pipe = pipe;
  if (type == NodeType::kRange) ++loops_;
  const ListAndEnd parsed = TRY(ParseList());
  if (type == NodeType::kRange) --loops_;
  branch->list = parsed.list;
  if (parsed.end->type == NodeType::kElse) branch->else_list = TRY(ParseElse(type, *parsed.end));
  variables_.resize(variables);
  return branch;
}

Result<const ListNode*> TreeParser::ParseElse(NodeType type, const Node& else_node) {
  const TokenType next = Peek().type;
  const bool is_if = type == NodeType::kIf && next == TokenType::kIfKeyword;
  const bool is_with = type == NodeType::kWith && next == TokenType::kWithKeyword;
  if (is_if || is_with) {
    const Level level(shared_);
    if (!level.is_allowed()) return Fail("actions are nested too deeply");
    Next();
    ListNode* const list = shared_.Make<ListNode>(else_node.position);
    list->nodes.push_back(TRY(ParseControl(type, is_if ? "if" : "with")));
    return list;
  }
  const ListAndEnd parsed = TRY(ParseList());
  if (parsed.end->type != NodeType::kEnd) return Fail("expected end; found " + SourceOf(*parsed.end));
  return parsed.list;
}

Result<const Node*> TreeParser::ParseBlock() {
  constexpr std::string_view kContext = "block clause";
  const Token token = NextNonSpace();
  const std::string name = TRY(TemplateName(token, kContext));
  const PipeNode* const pipe = TRY(ParsePipeline(kContext, TokenType::kRightDelimiter));
  TreeParser block(shared_);
  const ListAndEnd parsed = TRY(block.ParseList());
  if (parsed.end->type != NodeType::kEnd) {
    return Fail(fmt::format("unexpected {} in {}", SourceOf(*parsed.end), kContext));
  }
  TRY(block.Add(name, parsed.list));
  return shared_.Make<TemplateNode>(token.position, name, pipe);
}

Result<const Node*> TreeParser::ParseTemplate() {
  constexpr std::string_view kContext = "template clause";
  const Token token = NextNonSpace();
  const std::string name = TRY(TemplateName(token, kContext));
  const PipeNode* pipe = nullptr;
  if (NextNonSpace().type != TokenType::kRightDelimiter) {
    PutBack();
    pipe = TRY(ParsePipeline(kContext, TokenType::kRightDelimiter));
  }
  return shared_.Make<TemplateNode>(token.position, name, pipe);
}

Result<std::string> TreeParser::TemplateName(const Token& token, std::string_view context) {
  if (token.type != TokenType::kString && token.type != TokenType::kRawString) return Unexpected(token, context);
  auto name = gotext::Unquoted(token.text);
  if (!name) return Fail("invalid syntax");
  return *std::move(name);
}

Result<const PipeNode*> TreeParser::ParsePipeline(std::string_view context, TokenType end) {
  PipeNode* const pipe = shared_.Make<PipeNode>(PeekNonSpace().position);
  TRY(ParseVariables(*pipe, context));
  for (;;) {
    const Token token = NextNonSpace();
    if (token.type == end) {
      TRY(CheckPipeline(*pipe, context));
      return pipe;
    }
    switch (token.type) {
      case TokenType::kBool:
      case TokenType::kCharacterConstant:
      case TokenType::kComplex:
      case TokenType::kDot:
      case TokenType::kField:
      case TokenType::kIdentifier:
      case TokenType::kNumber:
      case TokenType::kNilKeyword:
      case TokenType::kRawString:
      case TokenType::kString:
      case TokenType::kVariable:
      case TokenType::kLeftParenthesis:
        PutBack();
        pipe->commands.push_back(TRY(ParseCommand()));
        break;
      default:
        return Unexpected(token, context);
    }
  }
}

// Parses "$x :=" or "$i, $x :=" at the beginning of a pipeline.
Result<> TreeParser::ParseVariables(PipeNode& pipe, std::string_view context) {
  while (PeekNonSpace().type == TokenType::kVariable) {
    const Token variable = Next();
    // In "$x foo", the parser has to read the token after the space before it knows that $x is an argument.
    const Token behind = Peek();
    const Token next = PeekNonSpace();
    const bool is_first_of_two = next.type == TokenType::kCharacter && next.text == ",";
    if (next.type != TokenType::kAssign && next.type != TokenType::kDeclare && !is_first_of_two) {
      if (behind.type == TokenType::kSpace) {
        PutBack(variable, behind);
      } else {
        PutBack(variable);
      }
      return {};
    }
    NextNonSpace();
    pipe.variables.push_back(shared_.Make<VariableNode>(variable.position, SplitAtDots(variable.text)));
    variables_.emplace_back(variable.text);
    if (!is_first_of_two) {
      pipe.is_assignment = next.type == TokenType::kAssign;
      return {};
    }
    if (context != "range" || pipe.variables.size() >= 2) {
      return Fail(fmt::format("too many declarations in {}", context));
    }
    const TokenType third = PeekNonSpace().type;
    if (third != TokenType::kVariable && third != TokenType::kRightDelimiter && third != TokenType::kRightParenthesis) {
      return Fail("range can only initialize variables");
    }
  }
  return {};
}

Result<> TreeParser::CheckPipeline(const PipeNode& pipe, std::string_view context) {
  if (pipe.commands.empty()) return Fail(fmt::format("missing value for {}", context));
  for (std::size_t i = 1; i < pipe.commands.size(); ++i) {
    if (IsConstantOrDot(pipe.commands[i]->arguments.front()->type)) {
      return Fail(fmt::format("non executable command in pipeline stage {}", i + 1));
    }
  }
  return {};
}

// Parses a command, and consumes the | after it, but not a delimiter or a parenthesis.
Result<const CommandNode*> TreeParser::ParseCommand() {
  CommandNode* const command = shared_.Make<CommandNode>(PeekNonSpace().position);
  for (;;) {
    PeekNonSpace();
    if (const Node* operand = TRY(ParseOperand())) command->arguments.push_back(operand);
    const Token token = Next();
    if (token.type == TokenType::kSpace) continue;
    if (token.type == TokenType::kRightDelimiter || token.type == TokenType::kRightParenthesis) {
      PutBack();
    } else if (token.type != TokenType::kPipe) {
      return Unexpected(token, "operand");
    }
    break;
  }
  if (command->arguments.empty()) return Fail("empty command");
  return command;
}

// Parses a term and the fields after it.  Returns nullptr if the next token begins no term.
Result<const Node*> TreeParser::ParseOperand() {
  const Node* const term = TRY(ParseTerm());
  if (term == nullptr || Peek().type != TokenType::kField) return term;
  const std::size_t position = Peek().position;
  std::vector<std::string> names;
  while (Peek().type == TokenType::kField) names.emplace_back(Next().text.substr(1));
  const auto with_fields = [&](std::vector<std::string> first) {
    first.insert(first.end(), names.begin(), names.end());
    return first;
  };
  if (term->type == NodeType::kField) {
    return shared_.Make<FieldNode>(position, with_fields(static_cast<const FieldNode*>(term)->names));
  }
  if (term->type == NodeType::kVariable) {
    return shared_.Make<VariableNode>(position, with_fields(static_cast<const VariableNode*>(term)->names));
  }
  if (IsConstantOrDot(term->type)) return Fail("unexpected . after term " + gotext::Quoted(SourceOf(*term)));
  ChainNode* const chain = shared_.Make<ChainNode>(position, term);
  chain->names = std::move(names);
  return chain;
}

// Returns nullptr if the next token begins no term.
Result<const Node*> TreeParser::ParseTerm() {
  const Token token = NextNonSpace();
  switch (token.type) {
    case TokenType::kIdentifier:
      if (!shared_.HasFunction(token.text)) {
        return Fail(fmt::format("function {} not defined", gotext::Quoted(token.text)));
      }
      return shared_.Make<IdentifierNode>(token.position, token.text);
    case TokenType::kDot:
      return shared_.Make<WordNode>(NodeType::kDot, token.position);
    case TokenType::kNilKeyword:
      return shared_.Make<WordNode>(NodeType::kNil, token.position);
    case TokenType::kVariable:
      return UseVariable(token);
    case TokenType::kField:
      return shared_.Make<FieldNode>(token.position, SplitAtDots(token.text.substr(1)));
    case TokenType::kBool:
      return shared_.Make<BoolNode>(token.position, token.text == "true");
    case TokenType::kCharacterConstant:
    case TokenType::kComplex:
    case TokenType::kNumber:
      return ParseNumber(token);
    case TokenType::kLeftParenthesis: {
      const Level level(shared_);
      if (!level.is_allowed()) return Fail("max expression depth exceeded");
      const PipeNode* const pipe = TRY(ParsePipeline("parenthesized pipeline", TokenType::kRightParenthesis));
      return pipe;
    }
    case TokenType::kString:
    case TokenType::kRawString: {
      auto text = gotext::Unquoted(token.text);
      if (!text) return Fail("invalid syntax");
      return shared_.Make<StringNode>(token.position, token.text, *std::move(text));
    }
    default:
      PutBack();
      return nullptr;
  }
}

Result<const Node*> TreeParser::ParseNumber(const Token& token) {
  Result<Number> number = token.type == TokenType::kCharacterConstant ? ReadCharacter(token.text)
                          : token.type == TokenType::kComplex         ? ReadComplex(token.text)
                                                                      : ReadNumber(token.text);
  if (!number) return Fail(number.error().message());
  return shared_.Make<NumberNode>(token.position, token.text, *number);
}

// Returns the node of a variable, which must have been declared.
Result<const Node*> TreeParser::UseVariable(const Token& token) {
  if (std::find(variables_.begin(), variables_.end(), token.text) == variables_.end()) {
    return Fail("undefined variable " + gotext::Quoted(token.text));
  }
  return shared_.Make<VariableNode>(token.position, SplitAtDots(token.text));
}

}  // namespace

TemplateParser::TemplateParser(Template& to, const Template::HasFunction& has_function)
    : to_(to),
      has_function_(has_function),
      lexer_(to.source_->text, {.has_break = !has_function("break"), .has_continue = !has_function("continue")}) {}

Result<> TemplateParser::Parse() { return TreeParser(*this).ParseAll(); }

bool TemplateParser::Add(std::string_view name, const ListNode* tree) {
  const auto [known, is_new] = to_.trees_.try_emplace(std::string(name), tree);
  if (is_new) return true;
  if (IsEmpty(*known->second)) {
    known->second = tree;
    return true;
  }
  return IsEmpty(*tree);
}

}  // namespace pintle::gotemplate
