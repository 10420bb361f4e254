# Loads a Homebrew formula with the few names of Homebrew that it uses, installs an unpacked tarball with it, and runs its
# test. Arguments: the formula, the folder of the tarball, an empty prefix. Prints what the formula would download.
require "fileutils"
require "json"

# A folder of an installation.
class Place
  def initialize(path)
    @path = path
  end

  def install(*sources)
    files = sources.flatten
    raise "nothing for #{@path}" if files.empty?
    FileUtils.mkdir_p(@path)
    files.each { |file| FileUtils.cp_r(file, @path) }
  end

  def to_s
    @path
  end
end

class Formula
  @facts = {}

  class << self
    attr_reader :facts

    def inherited(formula)
      super
      formula.instance_variable_set(:@facts, {})
      (@all ||= []) << formula
    end

    def only
      raise "one formula" if @all.length != 1
      @all.first
    end

    %i[desc homepage version license url sha256].each do |name|
      define_method(name) { |*values, **names| @facts[name] = values.first || names }
    end

    # This machine is one with Linux on x86-64.
    def on_linux = yield
    def on_intel = yield
    def on_macos = nil
    def on_arm = nil

    def test(&check)
      @check = check
    end

    attr_reader :check
  end

  PLACES = {
    bin: "bin",
    man1: "share/man/man1",
    bash_completion: "etc/bash_completion.d",
    zsh_completion: "share/zsh/site-functions",
    fish_completion: "share/fish/vendor_completions.d",
    doc: "share/doc/tabwire",
  }.freeze

  def initialize(prefix)
    @prefix = prefix
  end

  PLACES.each { |name, path| define_method(name) { Place.new(File.join(@prefix, path)) } }

  def version = self.class.facts[:version]

  def shell_output(command) = IO.popen(["sh", "-c", command], &:read)

  def assert_match(wanted, found)
    raise "#{wanted} is not in #{found}" unless found.match?(wanted)
  end
end

formula, folder, prefix = ARGV
load formula
made = Formula.only.new(prefix)
Dir.chdir(folder) { made.install }
made.instance_eval(&Formula.only.check)
puts JSON.generate(Formula.only.facts)
