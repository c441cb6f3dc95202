"""The allowed parts of a query, by the names of Spark's classes. Anything else is refused.

A function is listed if its value depends only on its arguments, the time and random numbers, and if it has no side
effect. Not listed are calls of Java methods (reflect), functions of Avro, Protobuf and XML (they read files or external
entities), functions of users, and functions of the environment (current_user, input_file_name).
"""

from __future__ import annotations

from typing import Final

CATALYST: Final = "org.apache.spark.sql.catalyst."


def _in(package: str, names: str) -> frozenset[str]:
    return frozenset(f"{CATALYST}{package}.{name}" for name in names.split())


TABLE_STATEMENTS: Final = _in(
    "plans.logical", "DescribeRelation DescribeColumn ShowColumns ShowCreateTable ShowTableProperties"
) | {
    "org.apache.spark.sql.delta.commands.DescribeDeltaHistory",
    "org.apache.spark.sql.delta.commands.DescribeDeltaDetailCommand",
}
"""Statements that show one table or view."""

SCHEMA_STATEMENTS: Final = _in("plans.logical", "ShowTables ShowViews")
"""Statements that show one schema."""

EXPLAIN: Final = "org.apache.spark.sql.execution.command.ExplainCommand"
DESCRIBE_QUERY: Final = "org.apache.spark.sql.execution.command.DescribeQueryCommand"

_PIPE: Final = _in("expressions", "PipeOperator")
"""The node of `|>`, which Spark keeps among the expressions."""

PARSED_PLANS: Final = _PIPE | _in(
    "plans.logical",
    """
        Aggregate Distinct Except Filter Generate GlobalLimit Intersect Join LateralJoin LocalLimit
        LocalRelation Offset OneRowRelation Pivot Project Sample Sort SubqueryAlias Tail Union
        UnresolvedHint
        UnresolvedWith Unpivot WithWindowDefinition
        """,
) | _in(
    "analysis",
    """
        RelationTimeTravel UnresolvedHaving UnresolvedInlineTable UnresolvedRelation
        UnresolvedSubqueryColumnAliases UnresolvedTableValuedFunction UnresolvedTVFAliases
        """,
)  # fmt: skip
"""Nodes of a parsed query."""

ANALYSED_PLANS: Final = (
    _PIPE
    | _in(
        "plans.logical",
        """
        Aggregate CTERelationDef CTERelationRef Distinct Except Expand Filter Generate GlobalLimit Intersect
        Join LateralJoin LocalLimit LocalRelation Offset OneRowRelation Project Range Repartition
        RepartitionByExpression ResolvedHint Sample Sort SubqueryAlias Tail Union View Window WithCTE
        """,
    )
    | {"org.apache.spark.sql.execution.datasources.LogicalRelation"}
)
"""Nodes of an analysed query."""

SUBQUERIES: Final = _in(
    "expressions", "Exists FunctionTableSubqueryArgumentExpression LateralSubquery ListQuery ScalarSubquery"
)
"""Expressions that hold a plan."""

PARSED_EXPRESSIONS: Final = _in(
    "analysis",
    """
    MultiAlias UnresolvedAlias UnresolvedAttribute UnresolvedExtractValue
    UnresolvedFunction UnresolvedGenerator UnresolvedRegex UnresolvedStar UnresolvedStarExceptOrReplace
    UnresolvedStarWithColumns UnresolvedOrdinal UnresolvedSubqueryColumnAliases
    """,
)  # fmt: skip
"""Expressions that only a parsed query has."""

EXPRESSIONS: Final = (
    _in(
        "expressions",
        """
        Abs Acos Acosh Add AddMonths AesDecrypt AesEncrypt Alias And ApproxTopKEstimate ArrayAggregate
        ArrayAppend ArrayCompact ArrayContains ArrayDistinct ArrayExcept ArrayExists ArrayFilter ArrayForAll
        ArrayInsert ArrayIntersect ArrayJoin ArrayMax ArrayMin ArrayPosition ArrayPrepend ArrayRemove
        ArrayRepeat ArraySize ArraySort ArrayTransform ArrayUnion ArraysOverlap ArraysZip Ascending$ Ascii
        Asin Asinh AssertTrue Atan Atan2 Atanh AttributeReference BRound Base64 Between Bin BitLength
        BitmapAndAgg BitmapBitPosition BitmapBucketNumber BitmapConstructAgg BitmapCount BitmapOrAgg
        BinaryPad BinaryPredicate BitwiseAnd BitwiseCount BitwiseGet BitwiseNot BitwiseOr BitwiseXor CaseWhen
        Cast Cbrt Ceil CeilExpressionBuilder CheckOverflow CheckOverflowInSum Chr
        Coalesce Collate CollateExpressionBuilder
        Collation Collations CommonExpressionDef CommonExpressionRef Concat ConcatWs Contains
        ContainsExpressionBuilder Conv ConvertTimezone Cos Cosh Cot Crc32 CreateArray CreateMap
        CreateNamedStruct Csc CsvToStructs Cube CumeDist CurDateExpressionBuilder CurrentDate CurrentRow$
        CurrentTime CurrentTimeZone CurrentTimestamp DateAdd DateAddInterval DateAddYMInterval DateDiff
        DateFormatClass DateFromUnixDate DatePartExpressionBuilder DateSub DatetimeSub DayName DayOfMonth
        DayOfWeek DayOfYear Decode DenseRank Descending$ Divide DivideDTInterval DivideYMInterval ElementAt
        Elt Encode EndsWith EndsWithExpressionBuilder EqualNull EqualNullSafe EqualTo EulerNumber Exists Exp
        Explode ExplodeExpressionBuilder ExplodeGeneratorBuilder ExplodeOuterGeneratorBuilder Expm1 Extract
        ExtractANSIIntervalDays ExtractANSIIntervalHours ExtractANSIIntervalMinutes ExtractANSIIntervalMonths
        ExtractANSIIntervalSeconds ExtractANSIIntervalYears ExtractIntervalDays ExtractIntervalHours
        ExtractIntervalMinutes ExtractIntervalMonths ExtractIntervalSeconds ExtractIntervalYears
        Factorial FindInSet Flatten Floor
        FloorExpressionBuilder FormatNumber FormatString FromUTCTimestamp FromUnixTime
        FunctionTableSubqueryArgumentExpression GeneratorOuter Get GetArrayItem GetArrayStructFields
        GetJsonObject GetMapValue GetStructField GreaterThan GreaterThanOrEqual Greatest Grouping GroupingID
        GroupingSets Hex HllSketchEstimate HllUnion Hour HourExpressionBuilder Hypot ILike If In InSubquery
        InitCap Inline InlineExpressionBuilder InlineGeneratorBuilder InlineOuterGeneratorBuilder
        IntegralDivide IsNaN IsNotNull IsNull IsValidUTF8 JsonObjectKeys JsonToStructs JsonTuple
        KllSketchGetNBigint KllSketchGetNDouble KllSketchGetNFloat KllSketchGetQuantileBigint
        KllSketchGetQuantileDouble KllSketchGetQuantileFloat KllSketchGetRankBigint KllSketchGetRankDouble
        KllSketchGetRankFloat KllSketchMergeBigint KllSketchMergeDouble KllSketchMergeFloat
        KllSketchToStringBigint KllSketchToStringDouble KllSketchToStringFloat KnownNotNull KnownNullable
        LPadExpressionBuilder Lag LambdaFunction LastDay LateralColumnAliasReference LateralSubquery Lead
        Least Left Length LengthOfJsonArray LessThan LessThanOrEqual Levenshtein Like LikeAll LikeAny
        ListQuery Literal LocalTimestamp Log Log10 Log1p Log2 Logarithm Lower Luhncheck MakeDTInterval
        MakeDate MakeInterval MakeTime MakeTimestamp MakeTimestampExpressionBuilder MakeTimestampFromDateTime
        MakeTimestampLTZExpressionBuilder MakeTimestampNTZ MakeTimestampNTZExpressionBuilder MakeValidUTF8
        MakeYMInterval MapConcat MapContainsKey MapEntries MapFilter MapFromArrays MapFromEntries MapKeys MapValues
        MapZipWith Mask MaskExpressionBuilder Md5 MicrosToTimestamp MillisToTimestamp Minute
        MinuteExpressionBuilder MonotonicallyIncreasingID Month MonthName MonthsBetween MultiAlias Multiply
        MultiplyDTInterval MultiplyYMInterval Murmur3Hash NTile NaNvl NamePlaceholder$ NamedArgumentExpression
        NamedLambdaVariable NextDay Not NotLikeAll NotLikeAny Now NthValue NullIf NullIfZero NullsFirst$
        NullsLast$ Nvl Nvl2 OctetLength Or OuterReference Overlay ParseToDate ParseToTimestamp
        ParseToTimestampLTZExpressionBuilder ParseToTimestampNTZExpressionBuilder ParseUrl PercentRank Pi
        PipeExpression Pmod PosExplode PosExplodeExpressionBuilder PosExplodeGeneratorBuilder
        PosExplodeOuterGeneratorBuilder Pow PreciseTimestampConversion PromotePrecision PythonUDTF Quarter
        Quote RLike RPadExpressionBuilder RaiseError RaiseErrorExpressionBuilder Rand RandStr Randn
        RangeFrame$ Rank RegExpCount RegExpExtract RegExpExtractAll RegExpInStr RegExpReplace RegExpSubStr
        Remainder ResolvedCollation Reverse Right Rint Rollup Round RoundCeil RoundFloor RowFrame$ RowNumber
        SQLKeywords ScalarSubquery SchemaOfCsv SchemaOfJson Sec Second SecondExpressionBuilder SecondWithFraction
        SemiStructuredExtract
        SecondsToTimestamp Sentences Sequence SessionWindow Sha1 Sha2 ShiftLeft ShiftRight ShiftRightUnsigned
        Shuffle Signum Sin Sinh Size Slice SortArray SortOrder SoundEx SpecifiedWindowFrame SplitPart Sqrt
        Stack StartsWith StartsWithExpressionBuilder StringDecode StringInstr StringLPad StringLocate
        StringRPad StringRepeat StringReplace StringSpace StringSplit StringToMap StringTranslate StringTrim
        StringTrimBoth StringTrimLeft StringTrimRight StructsToCsv StructsToJson Substring SubstringIndex
        Subtract SubtractDates SubtractTimestamps Tan Tanh TempResolvedColumn ThetaDifference
        ThetaIntersection ThetaSketchEstimate ThetaUnion TimeBucket TimeBucketExpressionBuilder TimeDiff
        TimeFromMicros TimeFromMillis TimeFromSeconds TimeToMicros TimeToMillis TimeToSeconds TimeTrunc
        TimeWindow TimestampAdd TimestampAddInterval TimestampAddYMInterval TimestampDiff ToBinary ToCharacter
        ToCharacterBuilder ToDegrees ToNumber ToRadians ToTime ToUTCTimestamp ToUnixTimestamp TransformKeys
        TransformValues TruncDate TruncTimestamp TryAdd TryAesDecrypt TryDivide TryElementAt TryEval
        TryMakeInterval TryMakeTimestamp TryMakeTimestampExpressionBuilder TryMakeTimestampFromDateTime
        TryMakeTimestampLTZExpressionBuilder TryMakeTimestampNTZExpressionBuilder TryMod TryMultiply
        TryParseUrl TrySubtract TryToBinary TryToDateExpressionBuilder TryToNumber TryToTimeExpressionBuilder
        TryToTimestampExpressionBuilder TryUrlDecode TryValidateUTF8 TupleDifferenceDouble
        TupleDifferenceInteger TupleDifferenceThetaDouble TupleDifferenceThetaInteger TupleIntersectionDouble
        TupleIntersectionInteger TupleIntersectionThetaDouble TupleIntersectionThetaInteger
        TupleSketchEstimateDouble TupleSketchEstimateInteger TupleSketchSummaryDouble
        TupleSketchSummaryInteger TupleSketchThetaDouble TupleSketchThetaInteger TupleUnionDouble
        TupleUnionDoubleExpressionBuilder TupleUnionInteger TupleUnionIntegerExpressionBuilder
        TupleUnionThetaDouble TupleUnionThetaDoubleExpressionBuilder TupleUnionThetaInteger
        TupleUnionThetaIntegerExpressionBuilder TypeOf TypedNullLiteral UnBase64 UnaryMinus UnaryPositive
        UnboundedFollowing$ UnboundedPreceding$ Unhex Uniform UnixDate UnixMicros UnixMillis UnixSeconds
        UnixTimestamp UnresolvedCollation UnresolvedNamedLambdaVariable UnresolvedWindowExpression
        UnspecifiedFrame$ Upper UrlDecode UrlEncode Uuid ValidateUTF8 VectorAvg VectorCosineSimilarity
        VectorInnerProduct VectorL2Distance VectorNorm VectorNormalize VectorSum WeekDay WeekOfYear
        WidthBucket WindowExpression WindowSpecDefinition WindowSpecReference WindowTime With XxHash64 Year
        ZeroIfNull ZipWith
        """,
    )
    | _in(
        "expressions.aggregate",
        """
        AggregateExpression AnyValue ApproxTopK ApproxTopKAccumulate ApproxTopKCombine ApproximatePercentile
        Average BitAndAgg BitOrAgg BitXorAgg BoolAnd BoolOr CollectList CollectSet Complete$ Corr Count
        CountIf CountMinSketchAgg CountMinSketchAggExpressionBuilder CovPopulation CovSample First
        HistogramNumeric HllSketchAgg HllUnionAgg HyperLogLogPlusPlus KllMergeAggBigint KllMergeAggDouble
        KllMergeAggFloat KllSketchAggBigint KllSketchAggDouble KllSketchAggFloat Kurtosis Last ListAgg Max
        MaxBy MaxByBuilder MaxMinByK Median Min MinBy MinByBuilder Mode ModeBuilder Percentile PercentileCont
        PercentileContBuilder PercentileDisc PercentileDiscBuilder PivotFirst RegrAvgX RegrAvgY RegrCount
        RegrIntercept RegrR2 RegrSXX RegrSXY RegrSYY RegrSlope Skewness StddevPop StddevSamp Sum
        ThetaIntersectionAgg ThetaSketchAgg ThetaUnionAgg TryAverageExpressionBuilder TrySumExpressionBuilder
        TupleIntersectionAggDouble TupleIntersectionAggInteger TupleSketchAggDouble
        TupleSketchAggDoubleExpressionBuilder TupleSketchAggInteger TupleSketchAggIntegerExpressionBuilder
        TupleUnionAggDouble TupleUnionAggDoubleExpressionBuilder TupleUnionAggInteger
        TupleUnionAggIntegerExpressionBuilder VariancePop VarianceSamp
        """,
    )
    | _in(
        "expressions.st",
        """
        ST_AsBinary ST_GeogFromWKB ST_GeomFromWKB ST_SetSrid ST_Srid
        """,
    )
    | _in(
        "expressions.variant",
        """
        IsValidVariant IsVariantNull ParseJson ParseJsonExpressionBuilder SchemaOfVariant SchemaOfVariantAgg
        ToVariantObject TryParseJsonExpressionBuilder TryVariantGetExpressionBuilder VariantExplode
        VariantExplodeGeneratorBuilder VariantExplodeOuterGeneratorBuilder VariantGet
        VariantGetExpressionBuilder
        """,
    )
    | {f"{CATALYST}plans.logical.Range"}
)  # fmt: skip
"""Expressions, and the builders of some functions."""
